// Acquiring and releasing ranges, for the parts of the library that hold some.
#pragma once

#include <atomic>

#include <headroom/detail/range/held_range.hpp>

#include "component_api.hpp"
#include "range/extent.hpp"
#include "range/control_block.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Slow paths of acquire_range() and release_range(). The first takes a kept range, from the lists or this thread's slots, or makes one; the
// second fills no slot.
[[nodiscard]] held_range acquire_slow(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                      failure& why, std::size_t known_use) noexcept;
void release_range_slow(range* control, std::size_t used) noexcept;

// Adds a range without an owner to the cache, or unmaps it, with all that it displaces there. `used`: see release_range().
void cache_or_unmap(range* control, std::size_t used) noexcept;

// Unmaps all ranges of a chain, and frees their control blocks.
HEADROOM_FOR_COMPONENTS void unmap_all_ranges(range_chain chain) noexcept;

// Least guard on either side of a range, in bytes: a stray write past a premapped one must miss by more to do harm.
inline constexpr std::size_t guard_bytes = std::size_t{64} << 10;

// A range begins at a 2 MiB boundary of its mapping, or up to max_start_stagger before it, with guards on both sides. The mapping begins
// anywhere: not every system maps at a boundary in one call.
inline constexpr std::size_t max_start_stagger = std::size_t{512} << 10;
[[nodiscard]] inline std::size_t mapping_bytes_for(std::size_t reserved) noexcept {
    return guard_bytes + max_start_stagger + huge_page_alignment + reserved + guard_bytes;
}
[[nodiscard]] inline std::byte* aligned_start_of(page_range mapping) noexcept {
    const auto least = reinterpret_cast<std::uintptr_t>(mapping.data) + guard_bytes + max_start_stagger;
    return mapping.data + (round_up(least, huge_page_alignment) - reinterpret_cast<std::uintptr_t>(mapping.data));
}

using reserve_function = page_range(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept;

// Makes a live range of `reserved` bytes, a multiple of the page size, by calling `for_file` instead of reserve(). If refused, unmaps
// everything unused and tries again, because address space, mappings or memory may be short; if refused again, sets `error` and returns
// null. Such a range is released by unmap_all_ranges(), never cached.
[[nodiscard]] HEADROOM_FOR_COMPONENTS range* make_file_range(std::size_t reserved, const commit_policy& policy,
                                                             std::error_code& error, reserve_function* for_file) noexcept;

// Ends the helper thread; null unless there is one. Called when the code is unloaded or the program ends, before the cache is emptied: the
// helper releases idle memory of ranges in the cache.
extern constinit std::atomic<void (*)() noexcept> end_helper;

// Reads HEADROOM_OPTIONS at its first call; see read_options_once().
void heed_options() noexcept;

// Mappings of a range that has memory: the accessible part and the rest, which is one mapping with its neighbours' guards. Advice for huge
// pages in a part of it makes as many more.
inline constexpr std::size_t mappings_per_range = 2;

// True if one more range would take more mappings than reservations may have, so that the rest of the process keeps some.
[[nodiscard]] bool exceeds_mappings() noexcept;

// Returns unused address space, mappings and memory to the system, after a refusal.
void release_unused() noexcept;

[[nodiscard]] inline failure failure_of(const std::error_code& error) noexcept { return {error.value(), &error.category()}; }

}}}    // namespace headroom::detail
