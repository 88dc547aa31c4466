// A stretch of memory that slabs are cut from, and what is known of each of its pages. See slabs.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/chunks.hpp>
#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t slab_granule = 4096;    // bytes: slabs start at a multiple, and are so long or several times so long
inline constexpr std::size_t most_granules = 16;     // of a slab
inline constexpr std::size_t run_lengths = std::bit_width(most_granules);    // the powers of two that it may be

// What giving back a block of a slab needs. Of each granule it stands in an array of its own: where blocks come back in no order
// it is looked up at each, and so it should fit into the processor's nearest cache.
struct slab_counts {
    static constexpr std::uint8_t none = 0xFF;

    std::uint16_t freed;    // the first free block: its distance from the first granule in bytes, plus 1; 0: none
    std::uint16_t used;     // how many of those that were cut are not in its list; one more while others are to be cut
    std::uint16_t cut;      // how many blocks were cut from the slab
    std::uint8_t bin;       // whose blocks; none: no slab
    std::uint8_t back;      // granules from its first one, at which the others stand
};
static_assert(sizeof(slab_counts) == 8);

// A run of granules, cut into blocks of one size: what else is known of it, at its first granule.
struct slab {
    slab* previous;    // the list of those of its size that have free blocks
    slab* next;
    std::byte* start;
};

// A stretch of memory that slabs are cut from, with a slab and its counts for each granule, and a bit for each that is empty.
// (Aligned as its bits are, which lie behind it.)
struct alignas(std::uint64_t) area {
    std::byte* base;                                    // at a multiple of granule
    std::size_t granules;                               // that it may ever have
    std::size_t frontier;                               // granules that were cut; what the arrays say of others means nothing
    std::size_t empties;                                // how many of these are empty
    std::array<std::size_t, run_lengths> first_runs;    // by the logarithm of a count: in no word of bits before this one does a
                                                        // run of so many empty granules begin
    const void* chunk;                                  // that it lies in
    bool reserved;                                      // that is a reservation
    slab* slabs;
    slab_counts* counts;
    std::uint64_t* bits;
    std::size_t bytes;    // of this and the three arrays: one piece from upstream

    [[nodiscard]] std::byte* place(std::size_t index) const noexcept { return base + index * slab_granule; }
    [[nodiscard]] std::size_t index_of(const slab& one) const noexcept { return static_cast<std::size_t>(&one - slabs); }
    [[nodiscard]] std::byte* fill() const noexcept { return place(frontier); }

    void start_over() noexcept {
        frontier = empties = 0;
        first_runs = {};
    }

    // Counts the next granules as cut; they are no slab yet.
    void advance(std::size_t count) noexcept {
        for (; count > 0; --count, ++frontier) {
            if (frontier % 64 == 0) bits[frontier / 64] = 0;
            counts[frontier].bin = slab_counts::none;
            counts[frontier].back = 0;
        }
    }

    void set_empty(std::size_t index, std::size_t count) noexcept {
        empties += count;
        // (A run that these make may begin before them.)
        const std::size_t first = (index - (std::min)(index, most_granules - 1)) / 64;
        for (std::size_t& each : first_runs) each = (std::min)(each, first);
        for (; count > 0; --count, ++index) {
            counts[index].bin = slab_counts::none;
            counts[index].back = 0;
            bits[index / 64] |= std::uint64_t{1} << index % 64;
        }
    }

    // Gives the memory of empty granules back to the system; returns how many bytes.
    std::size_t discard_empties() noexcept {
        std::size_t result = 0;
        for (std::size_t at = 0; at < frontier;) {
            std::size_t end = at;
            while (end < frontier && (bits[end / 64] >> end % 64 & 1) != 0) ++end;
            if (end > at) {
                // Whole pages, which may be larger than a granule.
                std::byte* const first = detail::align_up(place(at), headroom::page_size());
                const std::byte* const last = place(end) - detail::address_of(place(end)) % headroom::page_size();
                if (last > first) {
                    const auto count = static_cast<std::size_t>(last - first);
                    detail::unpoison(first, count);
                    if (!headroom::discard({first, count})) result += count;
                    detail::poison(first, count);
                }
            }
            at = end + 1;
        }
        return result;
    }

    // The lowest run of so many empty granules, a power of two up to most_granules; `granules` when there is none. (At any
    // place: slabs are cut one after the other, whatever their lengths, and one that becomes empty must serve its own size again.)
    std::size_t take_empty(std::size_t count) noexcept {
        if (empties < count) return granules;
        const std::size_t words = (frontier + 63) / 64;
        for (std::size_t& word = first_runs[static_cast<std::size_t>(std::countr_zero(count))]; word < words; ++word) {
            std::uint64_t runs = bits[word];
            std::uint64_t after = word + 1 < words ? bits[word + 1] : 0;
            for (std::size_t width = 1; width < count; width *= 2) {
                runs &= runs >> width | after << (64 - width);
                after &= after >> width;
            }
            if (runs == 0) continue;
            const std::size_t first = word * 64 + static_cast<std::size_t>(std::countr_zero(runs));
            for (std::size_t at = first; at < first + count; ++at) bits[at / 64] &= ~(std::uint64_t{1} << at % 64);
            empties -= count;
            return first;
        }
        return granules;
    }
};

}}}    // namespace headroom::detail
