// SPDX-License-Identifier: MIT
// The cache of kept ranges: released ranges that keep their memory for the next owner, because fresh pages cost most of growing.
//
// Idle memory lies in kept ranges, which have no owner, and past the committed part of live ones, where an earlier owner left it. All of it
// belongs to the cache: an owner takes of it as it commits, and the cache releases of it what exceeds the budget (account.hpp), the oldest
// first, also behind a live range's committed part. So a request needs no forecast: it gets the range that was released last, and what
// it does not use stays here.
//
// Two tiers: lists under the registry's lock, and slots of each thread for ranges of which little is committed.
//
// Nothing here unmaps a range: those to be unmapped are returned in a range_chain.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "range/control_block.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Most bytes committed of a range in a thread's slot.
inline constexpr std::size_t max_slot_bytes = std::size_t{64} << 10;

// Default limit of the idle bytes of a process, without those allowed as missed (account.hpp); and the limit up to which it does not read
// how much memory there is.
inline constexpr std::size_t default_limit = std::size_t{64} << 20;
inline constexpr std::size_t min_limit = std::size_t{512} << 10;

// Returns the limit of the idle bytes: the user's, otherwise one that fits the process's memory. Reads files above min_limit.
[[nodiscard]] std::size_t limit_of_cache(std::size_t bytes) noexcept;

// Makes a kept range live.
inline void mark_live(range* control) noexcept {
    control->cache.count_hit();
    control->identity.state.store(range_state::live, std::memory_order_release);
}

// Request for a range, as acquire_range() has it.
struct range_request {
    std::size_t bytes;
    bool exact;
    const commit_policy& policy;
    std::size_t known_use;
};
// Removes a range that may serve the request from the lists or this thread's slots: the one that was released last or, if the use is known,
// the last of those with about as much memory. Returns it with its first bytes committed, not live yet; none if there is none. O(kept
// ranges), normally at most 128; O(1) if the use is unknown and the newest range fits.
[[nodiscard]] range_lock pop_range(const range_request& request) noexcept;

// Adds a range without an owner to the list of kept ranges, and unlocks it. Returns the ranges to unmap.
[[nodiscard]] range_chain push_to_list(range_lock held) noexcept;
// Removes a range from the list that it is in, if any, and from the account.
void remove_from_cache(locked_range control) noexcept;

// Releases idle memory that exceeds the budget once the range's committed bytes reach `to`. Returns the ranges to unmap.
[[nodiscard]] range_chain make_room_for(locked_range control, std::size_t to) noexcept;
// Releases idle memory that exceeds the budget now. Returns the ranges to unmap.
[[nodiscard]] range_chain release_excess() noexcept;

inline constexpr std::size_t keep_limit = SIZE_MAX;
// Sets the limit of the idle bytes and releases those in excess; with keep_limit releases all and leaves the limit. Returns the ranges to
// unmap, those in this thread's slots included. Other threads' slots follow at their next call, or when they end.
[[nodiscard]] range_chain limit_cache(std::size_t bytes) noexcept;
// Releases all idle memory that no other thread is using the range of, and this thread's slots. Returns the ranges to unmap.
[[nodiscard]] inline range_chain take_kept_ranges() noexcept { return limit_cache(keep_limit); }

// --- Slots of one thread: only that thread fills and empties them, with plain loads and stores.
//
// A thread gets slots when the slow path serves it a kept range (acquiring.cpp), and returns their ranges to the list when it ends.
// Trimming the cache empties the calling thread's slots and increments the generation; other threads see that at their next call and empty
// theirs. Until then all threads' slots hold at most a sixteenth of the limit, or all of a limit of min_limit.
//
// Only if kept memory stays unchanged (not hardened, and with no memory checker), and if the system reports the end of a thread (not on
// Windows). Other threads use the list.

struct thread_range_slots {
    std::array<range*, 2> kept{};             // filled from the first, and emptied from the last
    std::array<std::uint32_t, 2> listed{};    // ranges in the lists that are older: `in_lists` when it was released
    std::uint32_t in_lists = 0;               // ranges that this thread released to the lists and has not taken since
    std::uint32_t generation = 0;             // odd; 0: the thread has no slots; thread_exited: it gets none any more
    std::uint32_t releases = 0;               // into the slots; wraps
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

// Returns the place of the range that was released last of those in the slots, null if they are empty or if this thread has released one to
// the lists since.
[[nodiscard]] HEADROOM_ALWAYS_INLINE range** newest_slot(thread_range_slots& mine) noexcept {
    for (std::size_t i = mine.kept.size(); i-- != 0;) {
        if (mine.kept[i] != nullptr) return mine.listed[i] == mine.in_lists ? &mine.kept[i] : nullptr;
    }
    return nullptr;
}

// Empties this thread's slots. Returns their ranges.
[[nodiscard]] inline range_chain detach_thread_slots() noexcept {
    range_chain found;
    if (slots_generation.load(std::memory_order_relaxed) == 0) return found;
    for (range*& place : this_thread_slots.kept) {
        if (range* const each = std::exchange(place, nullptr)) found.push(each);
    }
    return found;
}

// Invalidates all threads' slots: each thread empties its own before it uses them again.
inline void invalidate_all_slots() noexcept {
    // Only odd numbers, so it never becomes 0 again.
    if (slots_generation.load(std::memory_order_relaxed) != 0) slots_generation.fetch_add(2, std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
