// The control block of a reserved range, shared by the registry, the cache, the helper thread and the range's own calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/reservation.hpp>

#include "system/calls.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// The functions that a policy holds pointers to.
struct policy_calls {
    [[nodiscard]] static auto prefault_call(const commit_policy& policy) noexcept { return policy.prefault_call_; }
    [[nodiscard]] static auto mapping(const commit_policy& policy) noexcept { return policy.premap_call_; }
};

inline constexpr std::size_t max_name_length = 79;    // bytes, as the kernel allows

enum class range_state : std::uint32_t { unused, live, cached };

struct range_list;

// Control blocks are reused, never freed, because a lookup may hold a pointer to one whose range was unmapped. Each part is written by the
// files named with it; others read it.
//
//   base         committed        accessible       memory                       reserved
//   | in use ... | idle           | inaccessible,  | inaccessible, never        | guard
//   |            |                | memory is warm | touched                    |
//
// `accessible` and `memory` may be in either order: memory arrives at first touch, or is left by an earlier owner.

// Fields that owner_of() and other processes read at any time, without a lock (registry.cpp). A seqlock: `version` is odd while the fields
// after `state` change, so a reader that sees one even version before and after has a consistent snapshot.
struct range_identity {
    std::atomic<std::uint32_t> version{0};
    std::atomic<range_state> state{range_state::unused};
    std::atomic<std::byte*> base{nullptr};
    std::atomic<std::size_t> reserved{0};    // bytes, a multiple of the page size
    range* next_of_all = nullptr;            // list of all blocks; set before the block is published
};
// The name: 80 bytes of text; empty if it has none.
using range_label = std::array<std::atomic<std::size_t>, (max_name_length + 1) / sizeof(std::size_t)>;

// Extent in bytes from the base (extent.cpp). Changed under the range's `mutex`.
struct range_extent {
    std::atomic<std::size_t> committed{0};    // given to the owner: in use
    std::atomic<std::size_t> memory{0};       // has memory, or had it from an earlier owner; idle past `committed`
    std::size_t accessible = 0;               // readable and writable for the system; at least `committed`
    std::size_t charged = 0;                  // charged for the owner; more than `committed` while it builds elements
    std::size_t populated = 0;                // known to have been populated; memory past it may never have been touched
    std::size_t lost = 0;            // bytes from the base up to which the cache released memory behind its owner; 0: none
    std::size_t counted_used = 0;    // counted in library_copy::used_bytes (account.hpp)
    std::size_t counted_idle = 0;    // counted in library_copy::idle_bytes
};

// How the bytes in use rose and fell lately (account.cpp).
struct recent_demand {
    std::atomic<std::int64_t> period_start{0};    // of the current period, a reading of steady_clock
    std::atomic<std::size_t> peak{0};             // most bytes in use in the current period
    std::atomic<std::size_t> high{0};             // the same, but of the previous period as well
    std::atomic<std::size_t> low{0};              // fewest bytes in use since they reached the high
    std::atomic<std::size_t> regained{0};         // largest rise from the low, up to the high, in the current period
    std::atomic<std::size_t> missed{0};           // bytes released behind owners that then committed there, in the current period
    std::atomic<std::size_t> previous_peak{0};
    std::atomic<std::size_t> previous_regained{0};
    std::atomic<std::size_t> previous_missed{0};
};

// The copy of the library that a range belongs to, and the only one that unmaps it. Modules linked with a copy each may share containers,
// and template functions: a loader takes those of the first module.
struct library_copy {
    void (*release_range)(range* control, std::size_t used) noexcept;
    std::atomic<std::size_t> used_bytes{0};    // memory that owners have committed, and all of ranges in thread slots
    std::atomic<std::size_t> idle_bytes{0};    // memory that the cache may release
    recent_demand demand{};
};
extern constinit library_copy this_copy;

// Set when reserved; unchanged when the range is reused from the cache (range.cpp).
struct range_creation {
    library_copy* home = &this_copy;    // never changes
    page_range mapping;                 // the whole reservation, with its guards
    std::size_t usable = 0;             // bytes from the base to the guard; an owner may have reserved fewer
    holding held = holding::guarded;
};

// Protection and advice that its owner asked for (changing.cpp, committing.cpp).
struct range_protection {
    access allowed = access::read_write;
    std::size_t protected_bytes = 0;    // bytes from the base protected so; memory committed later is writable
    bool huge_advised = false;
};

// State in the cache (cache.cpp, thread_slots.cpp).
struct cache_entry {
    std::atomic<std::uint64_t> hits{0};    // reuses from the cache; written by its owner
    bool reused = false;                   // its owner got it from the lists
    bool fits_thread_slot = false;         // true if it may be released to a thread's slot; see thread_slots.cpp
    bool unfit = false;                    // the system refused to take its memory back: it is unmapped when released
    range* next = nullptr;                 // in a chain of ranges to be unmapped, or of unused blocks
    range_list* list = nullptr;            // the list that it is in; null if none
    range* newer = nullptr;                // its neighbours there
    range* older = nullptr;
    std::size_t number = 0;    // greater numbers were released, or acquired, later
};

// State shared by its owner and the helper thread (prefaulter.cpp).
struct prefault_state {
    std::atomic<std::size_t> target{0};    // bytes from the base that the helper should populate
    std::size_t given_to_owner = 0;        // populated bytes from the base given to the owner
};

// Frequently used fields come first: offsets below 128 take one byte of an instruction, others four.
struct range {
    range_identity identity;
    constant_mutex
        mutex;    // held while the extent changes: by the owner, the helper thread, or the cache, which releases idle memory
    range_extent extent;
    commit_policy policy;    // its owner's
    cache_entry cache;
    prefault_state prefault;
    range_protection protection;
    range_creation creation;
    range_label label{};
    // Links in the address table (registry.hpp), changed under the registry's lock; readers follow them without it.
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

// Size of a huge page on machines that have them.
inline constexpr std::size_t huge_page_alignment = std::size_t{2} << 20;

}}}    // namespace headroom::detail
