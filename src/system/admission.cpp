// set_min_available_memory(): refuses memory before little is left.
#include "system/admission.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

#include <headroom/reservation.hpp>

namespace headroom { inline namespace v0_1 {
namespace detail { namespace {

using admission_clock = std::chrono::steady_clock;

constinit std::atomic<std::size_t> min_available{0};

// A reading, which takes some 50 us, is repeated after `allowance` bytes or `max_allowance_age`, because other programs take memory too.
constexpr std::size_t allowance_fraction = 16;    // of the rest above the minimum
constexpr std::chrono::milliseconds max_allowance_age{10};
constinit std::atomic<std::size_t> admitted{0};
constinit std::atomic<std::size_t> allowance{0};
constinit std::atomic<std::int64_t> last_read{0};

// True if `more` bytes leave the minimum available. Reads the available memory again if the last reading is old or nearly used up.
bool leaves_enough(std::size_t more) noexcept {
    const std::int64_t now = admission_clock::now().time_since_epoch().count();
    constexpr std::int64_t trusted = std::chrono::duration_cast<admission_clock::duration>(max_allowance_age).count();
    const std::size_t together = admitted.fetch_add(more, std::memory_order_relaxed) + more;
    if (together <= allowance.load(std::memory_order_relaxed) && now - last_read.load(std::memory_order_relaxed) < trusted)
        return true;
    const std::size_t minimum = min_available.load(std::memory_order_relaxed);
    const std::size_t available = available_memory();
    if (available < minimum || available - minimum < more) return false;
    // Read more often near the minimum.
    admitted.store(more, std::memory_order_relaxed);
    allowance.store(more + (available - minimum - more) / allowance_fraction, std::memory_order_relaxed);
    last_read.store(now, std::memory_order_relaxed);
    return true;
}

}    // namespace
}    // namespace detail

bool set_min_available_memory(std::size_t bytes) noexcept {
    using namespace detail;
    allowance.store(0, std::memory_order_relaxed);    // the next request reads
    min_available.store(bytes, std::memory_order_relaxed);
    leaves_enough_memory.store(bytes != 0 ? leaves_enough : nullptr, std::memory_order_relaxed);
    return available_memory() != SIZE_MAX && memory_limits_are_visible();
}

}}    // namespace headroom
