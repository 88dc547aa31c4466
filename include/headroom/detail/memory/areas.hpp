// All areas of a multipool, in order of addresses: in which of them a block lies, and where there are empty granules. See slabs.hpp.
//
// There may be many: where chunks are small, one for each few slabs. So nothing that is done for a slab looks at all of them, but
// for a search that then begins where the last one ended.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>

#include <headroom/detail/memory/area.hpp>
#include <headroom/detail/memory/chunks.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

class area_table {
public:
    explicit area_table(std::pmr::memory_resource* upstream) noexcept : upstream_(upstream) {}
    area_table(const area_table&) = delete;
    area_table& operator=(const area_table&) = delete;
    ~area_table() {
        for (area* const each : *this) upstream_->deallocate(each, each->bytes, alignof(area));
        if (areas_ != nullptr) upstream_->deallocate(areas_, capacity_ * sizeof(area*), alignof(area*));
    }

    [[nodiscard]] area* const* begin() const noexcept { return areas_; }
    [[nodiscard]] area* const* end() const noexcept { return areas_ + count_; }
    // How many granules were cut, of all areas.
    [[nodiscard]] std::size_t cut() const noexcept { return cut_; }

    // Nothing is cut any more.
    void start_over() noexcept {
        for (area* const each : *this) each->start_over();
        cut_ = 0;
        lowest_ = {};
    }

    // The area of [first, last) in a chunk, with nothing cut; made if need be. Throws what upstream throws, and then has changed
    // nothing.
    [[nodiscard]] area* enter(const void* chunk, bool reserved, std::byte* first, std::byte* last) {
        area** const at = from(detail::address_of(first));
        area* const entered = at != end() && (*at)->base == first ? *at : add(chunk, first, last);
        cut_ -= entered->frontier;
        entered->start_over();
        entered->reserved = reserved;
        return latest_ = entered;
    }

    // The area that a place lies in; null: none. O(log areas), O(1) for one in the area that was found last.
    [[nodiscard]] area* find(const void* place) const noexcept {
        if (latest_ != nullptr && covers(*latest_, place)) return latest_;
        // The last that begins at or before the place.
        area* const* const after = from(detail::address_of(place) + 1);
        return after != areas_ && covers(**(after - 1), place) ? *(after - 1) : nullptr;
    }
    // Where to look first, from now on.
    void found(area* latest) noexcept { latest_ = latest; }

    // The next granules of an area are cut.
    void advance(area& of, std::size_t count) noexcept {
        of.advance(count);
        cut_ += count;
    }
    // They are empty.
    void set_empty(area& of, std::size_t index, std::size_t count) noexcept {
        of.set_empty(index, count);
        for (std::uintptr_t& each : lowest_) each = (std::min)(each, detail::address_of(of.base));
    }

    // The lowest run of so many empty granules, a power of two up to 16, which are no longer empty; no area: there is none.
    struct run {
        area* of = nullptr;
        std::size_t index = 0;
    };
    [[nodiscard]] run take_empty(std::size_t count) noexcept {
        std::uintptr_t& lowest = lowest_[static_cast<std::size_t>(std::countr_zero(count))];
        for (area** at = from(lowest); at != end(); ++at) {
            const std::size_t index = (*at)->take_empty(count);
            if (index == (*at)->granules) continue;
            lowest = detail::address_of((*at)->base);
            return {*at, index};
        }
        lowest = UINTPTR_MAX;
        return {};
    }

    // The area in a chunk; null: it has none. O(log areas).
    [[nodiscard]] area* in_chunk(const void* chunk) const noexcept {
        // (What the chain knows of a chunk lies behind its area, or before it where it is a reservation.)
        area* const* const after = from(detail::address_of(chunk));
        if (after != end() && (*after)->chunk == chunk) return *after;
        return after != areas_ && (*(after - 1))->chunk == chunk ? *(after - 1) : nullptr;
    }

    // Forgets the areas of which `gone` says so. O(areas).
    template <class Gone>
    void remove_if(Gone gone) noexcept {
        std::size_t kept = 0;
        for (area* const each : *this) {
            if (!gone(*each)) {
                areas_[kept++] = each;
                continue;
            }
            cut_ -= each->frontier;
            upstream_->deallocate(each, each->bytes, alignof(area));
        }
        count_ = kept;
        latest_ = nullptr;
    }

private:
    static bool covers(const area& searched, const void* place) noexcept {
        return detail::address_of(place) - detail::address_of(searched.base) < searched.frontier * slab_granule;
    }

    // The first that begins at that address or behind it.
    [[nodiscard]] area** from(std::uintptr_t address) const noexcept {
        return std::lower_bound(areas_, areas_ + count_, address,
                                [](const area* each, std::uintptr_t sought) { return detail::address_of(each->base) < sought; });
    }

    area* add(const void* chunk, std::byte* first, std::byte* last) {
        if (count_ == capacity_) {
            const std::size_t more = capacity_ == 0 ? 8 : capacity_ * 2;
            auto** const larger = static_cast<area**>(upstream_->allocate(more * sizeof(area*), alignof(area*)));
            if (areas_ != nullptr) {
                std::copy(areas_, areas_ + count_, larger);
                upstream_->deallocate(areas_, capacity_ * sizeof(area*), alignof(area*));
            }
            areas_ = larger;
            capacity_ = more;
        }
        const std::size_t granules = static_cast<std::size_t>(last - first) / slab_granule;
        const std::size_t words = (granules + 63) / 64;
        const std::size_t bytes = sizeof(area) + granules * (sizeof(slab) + sizeof(slab_counts)) + words * sizeof(std::uint64_t);
        auto* const made = new (upstream_->allocate(bytes, alignof(area))) area{};
        made->base = first;
        made->granules = granules;
        made->chunk = chunk;
        made->bytes = bytes;
        made->bits = reinterpret_cast<std::uint64_t*>(made + 1);
        made->counts = reinterpret_cast<slab_counts*>(made->bits + words);
        made->slabs = reinterpret_cast<slab*>(made->counts + granules);
        area** const at = from(detail::address_of(first));
        std::copy_backward(at, areas_ + count_, areas_ + count_ + 1);
        *at = made;
        ++count_;
        return made;
    }

    std::pmr::memory_resource* upstream_;
    area** areas_ = nullptr;    // in order of addresses
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
    area* latest_ = nullptr;    // the one that a block was last found in
    std::size_t cut_ = 0;       // granules
    // By the logarithm of a count: no area at a lower address has a run of so many empty granules.
    std::array<std::uintptr_t, run_lengths> lowest_{};
};

}}}    // namespace headroom::detail
