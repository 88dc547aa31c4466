// The control block of one reserved range: what the registry, the cache, the helper thread and the range's own calls share.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <headroom/reservation.hpp>

#include "system/calls.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// What a policy has other objects of the library do.
struct policy_calls {
    [[nodiscard]] static auto prefault_call(const commit_policy& policy) noexcept { return policy.prefault_call_; }
    [[nodiscard]] static auto mapping(const commit_policy& policy) noexcept { return policy.premap_call_; }
};

inline constexpr std::size_t max_name_length = 79;    // bytes, as the kernel allows

enum class range_state : std::uint32_t { unused, live, cached };

// Control blocks are never freed, only used again: a lookup may hold a pointer to one whose range has died meanwhile. Each part
// has one owner, the file that is named with it; the others read.
//
//   base         committed        accessible       memory                       reserved
//   | in use ... | the owner's    | inaccessible,  | inaccessible, never        | guard
//   |            | on demand      | memory is warm | touched                    |
//
// `accessible` and `memory` may lie either way round: memory is provided at its first touch, or an earlier owner left it.

// What owner_of() and other processes read at any time, without a lock (registry.cpp). `version` is odd while what follows the
// state changes, so that a reader who saw one even version before and after has read what belongs together.
struct range_identity {
    std::atomic<std::uint32_t> version{0};
    std::atomic<range_state> state{range_state::unused};
    std::atomic<std::byte*> base{nullptr};
    std::atomic<std::size_t> reserved{0};    // bytes, a multiple of the page size
    range* next_of_all = nullptr;            // every block there is; set before the block is published
};
// And its name: 80 bytes of text; empty: it has none. Nothing else says whether it has one.
using range_label = std::array<std::atomic<std::size_t>, (max_name_length + 1) / sizeof(std::size_t)>;

// How far it reaches, in bytes from the base (extent.cpp, committing.cpp).
struct range_extent {
    std::atomic<std::size_t> committed{0};    // what the owner was given
    std::atomic<std::size_t> memory{0};       // what may have memory behind it
    std::size_t accessible = 0;               // what the system lets us touch; at least what is committed
    std::size_t populated = 0;                // what is known to have its memory
    std::size_t in_use = 0;                   // what bytes_in_use counts of it (cache.hpp)
};

// Which copy of the library a range is of: it alone ends the range, whoever's code says so. Modules that were linked with a copy each may
// share containers, and functions of templates: a loader takes those of the module that came first.
struct library_copy {
    void (*release_range)(range* control, std::size_t used) noexcept;
    std::atomic<std::size_t> warm_unused_bytes{0};    // bytes that were handed out warm and have not come to use yet (cache.cpp)
    std::atomic<std::size_t> bytes_in_use{0};         // memory of all live ranges (cache.hpp)
    std::atomic<std::size_t> peak_in_use{0};          // the most of it since a second or two ago (cache.cpp)
};
extern constinit library_copy this_copy;

// What it was made for; the same for all its lives (range.cpp).
struct range_creation {
    library_copy* home = &this_copy;    // never another
    page_range mapping;                 // all that was reserved, with the guards around
    commit_policy policy;
    holding held = holding::guarded;
};

// What its owner asked the system to do with it besides (changing.cpp, committing.cpp).
struct range_protection {
    access allowed = access::read_write;
    std::size_t protected_bytes = 0;    // bytes from base that this was said of; what was committed later can be written to
    bool huge_advised = false;
};

// What the cache knows of it (cache.cpp, thread_range_slots.cpp); its links serve the list of unused blocks as well.
struct cache_entry {
    std::atomic<std::uint64_t> hits{0};    // how often it was handed out warm; written by its owner
    std::size_t warm = 0;                  // bytes that an earlier owner left and the present one has not committed yet
    std::size_t reused_bytes = 0;          // bytes that it kept for this life; 0: it began anew
    bool reusable = false;                 // in the list: its size recurs
    std::size_t drops_at_start = 0;        // how many ranges had been dropped when this life began
    std::chrono::steady_clock::time_point since{};    // when this life began (0: in a slot), or when it was given back
    bool fits_thread_slot = false;    // whether its life may end in a slot of the thread's own; see thread_range_slots.cpp
    range* next = nullptr;
    range* previous = nullptr;
};

// What its owner shares with the helper thread (prefaulter.cpp).
struct prefault_state {
    constant_mutex mutex;                         // held while memory is provided, and while the owner changes the range
    std::atomic<std::uint32_t> batch_count{0};    // counts what the helper was at: changes after it has let go of `mutex`
    std::atomic<std::size_t> target{0};           // bytes from base that the helper is asked to provide
    std::size_t given_to_owner = 0;               // bytes from base that the owner was given of what was provided
};

// (What most code touches comes first: a place in the first 128 bytes is told in one byte of an instruction, others in four.)
struct range {
    range_identity identity;
    range_extent extent;
    cache_entry cache;
    prefault_state prefault;
    range_protection protection;
    range_creation creation;
    range_label label{};
    // Its links in the table of addresses (registry.hpp), under the registry's lock; readers follow them without.
    std::array<std::atomic<range*>, 2> next_at{};

    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::byte* start() const noexcept {
        return identity.base.load(std::memory_order_relaxed);
    }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t size() const noexcept {
        return identity.reserved.load(std::memory_order_relaxed);
    }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t memory() const noexcept {
        return extent.memory.load(std::memory_order_relaxed);
    }
    void set_memory(std::size_t bytes) noexcept { extent.memory.store(bytes, std::memory_order_relaxed); }
    [[nodiscard]] page_range part(std::size_t from, std::size_t to) const noexcept { return {start() + from, to - from}; }
};

// A huge page, on the machines that have them.
inline constexpr std::size_t huge_page_alignment = std::size_t{2} << 20;

}}}    // namespace headroom::detail
