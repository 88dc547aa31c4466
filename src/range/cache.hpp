// Ranges whose owners died, kept with their memory for the next one: fresh pages are what growing costs most.
//
// The rule, by share and by size:
//   - A dropped range of any size is kept while all kept ranges have at most a sixteenth of the bytes in use.
//   - A range whose size recurs is kept while kept and used bytes together are at most the most that was in use at once in the last second
//     or two, and kept bytes at most nine tenths of that, unless it is the only one. A size recurs if a similar range was dropped within a
//     second before this one's life began.
//   - A kept range serves a request for about as much memory as it has. A request that may grow may get more, while at most half of the
//     bytes in use are warm and unused. The surplus is given back to the system first.
//   - Ranges older than a second are released at the next drop; ranges in excess of the rule, when a live range takes fresh memory.
//
// Two tiers: a list under the registry's lock, and slots of each thread's own for ranges with little memory.
//
// Nothing here ends a range: what must end is returned, chained by `cache.next`.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/vector/held_range.hpp>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// How much memory a range may have to be kept in a slot of a thread, and to count as small.
inline constexpr std::size_t max_slot_memory = std::size_t{64} << 10;

// What a process may keep of it where nobody says otherwise; and while it keeps no more than the second, it does not ask how
// much memory there is.
inline constexpr std::size_t default_limit = std::size_t{64} << 20;
inline constexpr std::size_t min_limit = std::size_t{512} << 10;

// The user's limit or, where there is none, what suits the memory that the process may have. It may have to read files for that: not
// while `bytes` are no more than min_limit.
[[nodiscard]] std::size_t limit_of_cache(std::size_t bytes) noexcept;

// How many ranges were dropped so far with memory that nobody kept; wraps round.
extern constinit std::atomic<std::size_t> drop_count;

// Marks a range of the cache as live.
inline void mark_live(range* control) noexcept {
    control->cache.hits.store(control->cache.hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    control->identity.state.store(range_state::live, std::memory_order_release);
}

// Removes a range with `bytes` of addresses and that policy from the list and makes it live; null if there is none. Chooses by `use`. The
// caller must cut its memory to `kept` bytes.
[[nodiscard]] range* pop_from_list(std::size_t bytes, const commit_policy& policy, expected_use use, std::size_t& kept) noexcept;

// Adds a range without an owner to the list, with as much of its `memory` bytes as the rule above keeps. Returns the ranges to unmap: older
// ones and, if it is not kept, this one.
[[nodiscard]] range* push_to_list(range* control, std::size_t memory) noexcept;

// Removes ranges in excess of the rule from the list, after a live range took fresh memory; returns them to be unmapped.
[[nodiscard]] range* evict_excess() noexcept;

// Sets the limit for good, or leaves it as it is. What must end: with keep_limit all that the list keeps, and the slots of the
// calling thread either way. What other threads have in theirs they give up at their next call, or when they end.
inline constexpr std::size_t keep_limit = SIZE_MAX;
[[nodiscard]] range* limit_cache(std::size_t bytes) noexcept;
[[nodiscard]] inline range* empty_cache() noexcept { return limit_cache(keep_limit); }

// --- The slots that belong to one thread: it alone fills and empties them, with plain loads and stores.
//
// A thread comes to have them when a small range was served from the list (thread_range_slots.cpp), and gives what is in them to the list
// when it ends. Whoever trims the cache empties its own, and counts the generation up; the other threads see that at their
// next call and do the same. What all threads' slots hold until then is at most a sixteenth of the limit.
//
// Only where memory that is kept stays as it is (not hardened, and with no tool that looks at it), and where the system tells of a
// thread's end (not on Windows). Others use the list.

struct thread_range_slots {
    std::array<range*, 2> kept{};
    std::uint32_t generation = 0;    // odd; 0: the thread has no slots; thread_exited: nor will it have any
};
inline constexpr std::uint32_t thread_exited = 2;
[[nodiscard]] inline bool has_slots(const thread_range_slots& of) noexcept { return of.generation % 2 != 0; }

// The one that threads must be of to use their slots. 0 until a thread has slots: until then no variable of a thread is touched.
extern constinit std::atomic<std::uint32_t> slots_generation;
extern constinit thread_local thread_range_slots this_thread_slots;

// The calling thread's slots, if it may use them.
[[nodiscard]] inline thread_range_slots* usable_slots() noexcept {
    const std::uint32_t generation = slots_generation.load(std::memory_order_relaxed);
    if (generation == 0) return nullptr;
    thread_range_slots& mine = this_thread_slots;
    return mine.generation == generation ? &mine : nullptr;
}

// What is in the calling thread's slots, chained by `cache.next`.
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

// From now on no thread uses its slots before it has emptied them.
inline void invalidate_all_slots() noexcept {
    // (Odd numbers: so it is never 0 again.)
    if (slots_generation.load(std::memory_order_relaxed) != 0) slots_generation.fetch_add(2, std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
