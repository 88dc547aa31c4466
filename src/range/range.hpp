// The control block of one reserved range: what the registry, the cache, the helper thread and the range's own calls share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/reservation.hpp>

#include "system/calls.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// A lock for a few loads and stores, held by nobody for long. A whole word: RISC-V exchanges bytes only with the help of a
// library that programs would have to name.
class spin_lock {
public:
    void lock() noexcept {
        while (held_.exchange(1, std::memory_order_acquire) != 0)
            while (held_.load(std::memory_order_relaxed) != 0) {
            }
    }
    void unlock() noexcept { held_.store(0, std::memory_order_release); }

private:
    std::atomic<unsigned> held_{0};
};

inline constexpr std::size_t longest_name = 79;    // bytes, as the kernel allows

enum class range_state : std::uint8_t { unused, live, cached };

// Control blocks are never freed, only used again: a lookup may hold a pointer to one whose range has died meanwhile, and
// learns that under `lock`.
//
//   base            committed            high                        reserved
//   | in use ...    |  inaccessible,     | inaccessible, never       | guard
//   |               |  memory kept warm  | touched                   |
struct range {
    // Read by owner_of, under `lock`; written under `lock`.
    spin_lock lock;
    range_state state = range_state::unused;
    std::byte* base = nullptr;
    std::size_t reserved = 0;                    // bytes, a multiple of the page size
    char label[longest_name + 1] = {};
    std::atomic<std::size_t> committed{0};       // bytes accessible from base

    // The owner's alone (or the cache's, between owners).
    std::size_t high = 0;                        // bytes from base that may have memory behind them
    std::size_t helped = 0;                      // the same, of what a waiting writer provided ahead of the helper
    std::size_t stale = 0;                       // bytes from base that may hold what an earlier owner wrote
    page_range mapping{};                        // all that was reserved, with the guards around
    commit_policy policy;
    holding held = holding::guarded;
    access allowed = access::read_write;
    bool huge_advised = false;
    bool named = false;

    // Shared with the helper thread (see prefaulter.hpp).
    std::atomic<std::size_t> ready{0};           // bytes from base that the helper or the owner has provided
    std::atomic<std::size_t> wanted{0};          // bytes from base that the helper is asked to provide
    std::atomic<bool> queued{false};             // whether it is in the helper's queue

    // Lists of the registry and of the cache, under the registry's lock.
    range* next = nullptr;
    range* previous = nullptr;
};

// Ranges start at a multiple of this, and no two share one: so a pointer's granule names its range. It is a huge page on
// the machines that have them.
inline constexpr std::size_t granule = std::size_t{2} << 20;

}}}  // namespace headroom::detail
