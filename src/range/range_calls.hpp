// How ranges begin and end, for the parts of the library that hold some.
#pragma once

#include "range/extent.hpp"
#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// What acquire() and release_range() do where a slot of the thread's own does not.
[[nodiscard]] held_range acquire_slow(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                      failure& why, expected_use use) noexcept;
void release_range_slow(range* control, std::size_t used) noexcept;

// Gives a range that nobody owns any more to the warm cache or, with all that give way to it there, back to the system. `used`: see
// release_range().
void cache_or_unmap(range* control, std::size_t used) noexcept;

// Gives the address space and memory of each in a chain by `cache.next`, which may be empty, back to the system, and frees the
// control blocks.
void unmap_all_ranges(range* chain) noexcept;

// Writes past either end of an open range must travel at least this far to do harm.
inline constexpr std::size_t guard_bytes = std::size_t{64} << 10;

// A range begins at a granule of its mapping, or up to so many bytes before it, with guards on both sides. The mapping itself begins
// where the system likes: not everywhere is one that begins at a granule had in one call.
inline constexpr std::size_t max_start_stagger = std::size_t{512} << 10;
[[nodiscard]] inline std::size_t mapping_bytes_for(std::size_t reserved) noexcept {
    return guard_bytes + max_start_stagger + huge_page_alignment + reserved + guard_bytes;
}
[[nodiscard]] inline std::byte* aligned_start_of(page_range mapping) noexcept {
    const auto least = reinterpret_cast<std::uintptr_t>(mapping.data) + guard_bytes + max_start_stagger;
    return mapping.data + (round_up(least, huge_page_alignment) - reinterpret_cast<std::uintptr_t>(mapping.data));
}

using reserve_function = page_range(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept;

// A fresh range of so many bytes, whole pages, live; null and `error` when refused. Where that is so at first, what nobody uses goes:
// address space, mappings or memory may be what is short. `for_file`: how it is reserved for somebody who shows a file there, and who gives
// it back by unmap_all_ranges(), as it was reserved.
[[nodiscard]] range* make_range_or_trim_cache(std::size_t reserved, const commit_policy& policy, std::error_code& error,
                                              reserve_function* for_file = nullptr) noexcept;

// Gives back address space, mappings and memory that nobody uses: something was refused.
void release_unused() noexcept;

[[nodiscard]] inline failure failure_of(const std::error_code& error) noexcept { return {error.value(), &error.category()}; }

}}}    // namespace headroom::detail
