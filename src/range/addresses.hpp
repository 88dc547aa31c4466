// Which range an address belongs to: a hash table whose lists are linked through the control blocks, so that it needs no memory of
// its own and entering a range cannot fail.
//
// A range of at most 2^level bytes lies in one, or two adjacent, of the aligned pieces of 2^level bytes that the address space
// consists of. It is in the list of either piece. To look an address up is to look into one list for each level in use: nearly always
// one or two, since ranges have few sizes.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

struct address_table {
    std::atomic<std::uint64_t> levels{0};             // bit n: ranges of level n were entered; never cleared
    std::atomic<std::size_t> left{0};                 // how many ranges have left; wraps round
    std::array<std::atomic<range*>, 2048> lists{};    // each of the pieces whose numbers are so many apart
};
extern constinit address_table addresses;

// (Smaller ranges count as this large, to be of few levels.)
inline constexpr unsigned least_level = 21;

[[nodiscard]] inline unsigned level_of(std::size_t reserved) noexcept {
    const auto level = static_cast<unsigned>(std::bit_width(reserved - 1));
    return level < least_level ? least_level : level;
}

[[nodiscard]] inline std::size_t piece_of(const void* pointer, unsigned level) noexcept {
    return static_cast<std::size_t>(std::uint64_t{reinterpret_cast<std::uintptr_t>(pointer)} >> level);
}

[[nodiscard]] inline std::atomic<range*>& list_of(std::size_t piece) noexcept {
    return addresses.lists[piece % addresses.lists.size()];
}
// The link that a range has in the list of a piece: adjacent pieces have different ones.
[[nodiscard]] inline std::atomic<range*>& link_of(range* control, std::size_t piece) noexcept {
    return control->next_at[piece % control->next_at.size()];
}

}}}    // namespace headroom::detail
