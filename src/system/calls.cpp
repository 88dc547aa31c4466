#include "system/calls.hpp"

#include "system/admission.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit call_counters calls;

constinit pretences pretended;

constinit std::atomic<bool (*)(std::size_t) noexcept> leaves_enough_memory{nullptr};

int intercept(page_call kind) noexcept {
    calls.made[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
    if (!pretended.armed.load(std::memory_order_relaxed)) [[likely]]
        return 0;
    const std::uint64_t number = pretended.counted.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t chosen = pretended.failing_call.load(std::memory_order_relaxed);
    if (chosen == 0 || number < chosen) return 0;
    if (number > chosen && !pretended.failing_on.load(std::memory_order_relaxed)) return 0;
    note_refusal();
    return pretended.failing_error.load(std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
