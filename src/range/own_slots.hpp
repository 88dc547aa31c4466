// The slots of the cache that belong to one thread: it alone fills and empties them, with plain loads and stores.
//
// A thread comes to have them when a small range was served from the list (own_slots.cpp), and gives what is in them to the list
// when it ends. Whoever trims the cache empties its own, and counts the generation up; the other threads see that at their
// next call and do the same. So what they hold until then is bounded: most_in_own_slots, in all threads together.
//
// Only where memory that is kept stays as it is (not hardened, and with no tool that looks at it), and where the system tells of a
// thread's end (not on Windows). Others use the list.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "range/cache.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t own_places = 2;
// How many threads have slots at a time under the default limit, and what these may hold: a sixteenth of the limit.
inline constexpr std::size_t own_slots_at_once = 32;
inline constexpr std::size_t most_in_own_slots = own_slots_at_once * own_places * small_memory;
static_assert(most_in_own_slots == default_limit / 16);

struct own_slots {
    std::array<range*, own_places> kept{};
    std::uint32_t generation = 0;    // odd; 0: the thread has no slots; at_its_end: nor will it have any
};
inline constexpr std::uint32_t at_its_end = 2;
[[nodiscard]] inline bool has_slots(const own_slots& of) noexcept { return of.generation % 2 != 0; }

// The one that threads must be of to use their slots. 0 until a thread has slots: until then no variable of a thread is touched.
extern constinit std::atomic<std::uint32_t> slots_generation;
extern constinit thread_local own_slots slots_of_this_thread;

// The calling thread's slots, if it may use them.
[[nodiscard]] inline own_slots* usable_slots() noexcept {
    const std::uint32_t generation = slots_generation.load(std::memory_order_relaxed);
    if (generation == 0) return nullptr;
    own_slots& mine = slots_of_this_thread;
    return mine.generation == generation ? &mine : nullptr;
}

// What is in the calling thread's slots, chained by `cache.next`.
[[nodiscard]] inline range* take_own_slots() noexcept {
    if (slots_generation.load(std::memory_order_relaxed) == 0) return nullptr;
    range* found = nullptr;
    for (range*& place : slots_of_this_thread.kept) {
        if (place == nullptr) continue;
        place->cache.next = found;
        found = place;
        place = nullptr;
    }
    return found;
}

// From now on no thread uses its slots before it has emptied them.
inline void close_all_slots() noexcept {
    // (Odd numbers: so it is never 0 again.)
    if (slots_generation.load(std::memory_order_relaxed) != 0) slots_generation.fetch_add(2, std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
