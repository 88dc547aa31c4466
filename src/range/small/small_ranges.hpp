// Small ranges wait for their next owner apart from the list of the cache: in slots of a thread's own (own_slots.hpp), or in a few
// places that threads share, without a lock. Only programs that hold small ranges are linked with that: the cache knows it by
// what it is told at the first of them.
#pragma once

#include <atomic>
#include <cstddef>

#include <headroom/detail/memory/large_block.hpp>    // keep_small_ranges()

#include "range/small/own_slots.hpp"
#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// A program's lanes hold no more than lanes * places times small_memory, and what an earlier life left, which stays counted as
// warm memory that is not in use. (What a life may use to count as small: small_memory.)
inline constexpr std::size_t lanes = 16;
inline constexpr std::size_t places_in_lane = 2;
inline constexpr std::size_t most_in_lanes = lanes * places_in_lane * small_memory;

// Whether small ranges may wait outside the list, and what they may hold is too little to count.
[[nodiscard]] constexpr bool lanes_are_open(std::size_t limit_now) noexcept { return limit_now >= 4 * most_in_lanes; }
[[nodiscard]] constexpr bool own_slots_are_open(std::size_t limit_now) noexcept {
    return limit_now >= 4 * (most_in_lanes + most_in_own_slots);
}

enum class lane_contents { all, large };

// What the cache has done for small ranges. None is called with the registry's lock held but `after_fork`.
struct small_range_calls {
    // A range that serves and is in hand: the thread's own, or of its lane; live. Null where there is none.
    range* (*take_near)(std::size_t bytes, const commit_policy& policy) noexcept;
    // The same from anybody's lane.
    range* (*take_far)(std::size_t bytes, const commit_policy& policy) noexcept;
    // Takes a small range into a slot or a lane; false where there is no room, and nothing has changed.
    bool (*give)(range* control, std::size_t limit_now) noexcept;
    // Takes apart what waits in the lanes; true if there was something.
    bool (*empty_lanes)(lane_contents what) noexcept;
    range* (*empty_own_slots)(bool all) noexcept;
    // In a forked child, under the registry's lock.
    void (*after_fork)() noexcept;
    void (*close_own_slots)() noexcept;
};
// Null until keep_small_ranges() is called, which any thread may do, again and again.
extern constinit std::atomic<const small_range_calls*> small_ranges;

}}}    // namespace headroom::detail
