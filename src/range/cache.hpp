// The cache of kept ranges: released ranges that keep their memory for the next owner, because fresh pages cost most of growing.
//
// The rule, by share and by size:
//   - A released range of any size is kept while all kept ranges have at most a sixteenth of the bytes in use.
//   - A range whose size recurs is kept while kept and used bytes together are at most the peak of the bytes in use in the last second or
//     two, and kept bytes at most nine tenths of that, unless it is the only one. A size recurs if a similar range was dropped within a
//     second before this one was acquired.
//   - A kept range serves a request for about the memory that it has. A request that may grow may get more, while at most half of the
//     bytes in use are warm and unused. The surplus is returned to the system first.
//   - Ranges older than a second are unmapped at the next release; ranges in excess of the rule, when a live range takes fresh memory.
//
// Two tiers: a list under the registry's lock, and slots of each thread for ranges with little memory.
//
// Nothing here unmaps a range: ranges to be unmapped are returned, linked by `cache.next`.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/vector/held_range.hpp>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Largest memory of a range in a thread's slot; sizes up to this count as similar.
inline constexpr std::size_t max_slot_memory = std::size_t{64} << 10;

// Default limit of the kept bytes of a process; and the limit up to which it does not read how much memory there is.
inline constexpr std::size_t default_limit = std::size_t{64} << 20;
inline constexpr std::size_t min_limit = std::size_t{512} << 10;

// Returns the limit of the kept bytes: the user's, otherwise one that fits the process's memory. Reads files above min_limit.
[[nodiscard]] std::size_t limit_of_cache(std::size_t bytes) noexcept;

// Number of ranges dropped so far: unmapped instead of kept, wholly or in part. Wraps.
extern constinit std::atomic<std::size_t> drop_count;

// Makes a kept range live.
inline void mark_live(range* control) noexcept {
    control->cache.hits.store(control->cache.hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    control->identity.state.store(range_state::live, std::memory_order_release);
}

// Removes a range for `bytes`, policy and `use` from the list and makes it live, or null. The caller releases its memory past `kept`.
[[nodiscard]] range* pop_from_list(std::size_t bytes, const commit_policy& policy, expected_use use, std::size_t& kept) noexcept;

// Adds a range without an owner to the list, with as much of its `memory` bytes as the rule keeps. Returns the ranges to unmap: older ones
// and, if it is not kept, this one.
[[nodiscard]] range* push_to_list(range* control, std::size_t memory) noexcept;

// Removes ranges in excess of the rule from the list, after a live range took fresh memory. Returns them to be unmapped.
[[nodiscard]] range* evict_excess() noexcept;

inline constexpr std::size_t keep_limit = SIZE_MAX;
// Sets the limit of the kept bytes; with keep_limit empties the list and leaves the limit. Returns the ranges to unmap, those in this
// thread's slots included. Other threads' slots follow at their next call, or when they end.
[[nodiscard]] range* limit_cache(std::size_t bytes) noexcept;
// Empties the list and this thread's slots; the limit stays. Returns the ranges to unmap.
[[nodiscard]] inline range* take_kept_ranges() noexcept { return limit_cache(keep_limit); }

// --- Slots of one thread: only that thread fills and empties them, with plain loads and stores.
//
// A thread gets slots when a small range was served from the list (thread_slots.cpp), and returns their ranges to the list when it ends.
// Trimming the cache empties the calling thread's slots and increments the generation; other threads see that at their next call and empty
// theirs. Until then all threads' slots hold at most a sixteenth of the limit.
//
// Only if kept memory stays unchanged (not hardened, and with no memory checker), and if the system reports the end of a thread (not on
// Windows). Other threads use the list.

struct thread_range_slots {
    std::array<range*, 2> kept{};
    std::uint32_t generation = 0;    // odd; 0: the thread has no slots; thread_exited: it gets none any more
};
inline constexpr std::uint32_t thread_exited = 2;
[[nodiscard]] inline bool has_slots(const thread_range_slots& of) noexcept { return of.generation % 2 != 0; }

// Generation of valid slots. 0 until a thread has slots: until then no thread-local variable is touched.
extern constinit std::atomic<std::uint32_t> slots_generation;
extern constinit thread_local thread_range_slots this_thread_slots;

// Returns the calling thread's slots if they are valid; otherwise null.
[[nodiscard]] inline thread_range_slots* usable_slots() noexcept {
    const std::uint32_t generation = slots_generation.load(std::memory_order_relaxed);
    if (generation == 0) return nullptr;
    thread_range_slots& mine = this_thread_slots;
    return mine.generation == generation ? &mine : nullptr;
}

// Detaches the ranges in this thread's slots. Returns them as a list linked by `cache.next`.
[[nodiscard]] inline range* detach_thread_slots() noexcept {
    if (slots_generation.load(std::memory_order_relaxed) == 0) return nullptr;
    range* found = nullptr;
    for (range*& place : this_thread_slots.kept) {
        if (place == nullptr) continue;
        place->cache.next = found;
        found = place;
        place = nullptr;
    }
    return found;
}

// Invalidates all threads' slots: each thread empties its own before it uses them again.
inline void invalidate_all_slots() noexcept {
    // Only odd numbers, so it never becomes 0 again.
    if (slots_generation.load(std::memory_order_relaxed) != 0) slots_generation.fetch_add(2, std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
