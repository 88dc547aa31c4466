// A table of three levels, as a page table's, from a granule of addresses to the control block of the range that covers it.
// A range writes one entry for each granule it covers, or one for each gigabyte that it covers whole; lookups read three
// words and then check that the range is live and holds the pointer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr unsigned granule_bits = 21;
inline constexpr unsigned level_bits = 9;
inline constexpr std::size_t entries = std::size_t{1} << level_bits;
inline constexpr unsigned gigabyte_bits = granule_bits + level_bits;

static_assert(granule == std::size_t{1} << granule_bits);

struct leaf {
    std::atomic<range*> ranges[entries]{};
};
struct middle {
    std::atomic<range*> gigabytes[entries]{};    // the range that covers the gigabyte whole, if one does
    std::atomic<leaf*> leaves[entries]{};        // otherwise: its granules; kept once made
};

extern constinit std::atomic<middle*> granule_table[entries];    // 48 bits of addresses

inline std::uint64_t address_number(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

inline std::size_t top_index(std::uint64_t at) noexcept { return static_cast<std::size_t>(at >> (gigabyte_bits + level_bits)); }
inline std::size_t middle_index(std::uint64_t at) noexcept { return static_cast<std::size_t>(at >> gigabyte_bits) % entries; }
inline std::size_t leaf_index(std::uint64_t at) noexcept { return static_cast<std::size_t>(at >> granule_bits) % entries; }

}}}    // namespace headroom::detail
