// Where a multipool keeps its free blocks once it has grown beyond a few kilobytes: in the slabs that they were cut from.
//
// A slab is a run of pages cut into blocks of one size. What a container gave back in whatever order lies together again slab
// by slab, and comes out in order of addresses; so a container that is built in memory that another one left behind finds it as
// dense, and as much in order, as if it were fresh. (Handed out in the order in which they came back, the nodes of a hash table with a
// million elements lay scattered over all of its memory: building the next one took three times as long.) A slab whose blocks are
// all free is a free run of pages (page_runs.hpp), for slabs of any size and for wide blocks.
//
// docs/design.md draws the states of a free block. Blocks that were cut from the first small chunks lie in no slab; what came back of
// those waits in a list beside the slabs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/checks.hpp>
#include <headroom/detail/memory/chunks.hpp>
#include <headroom/detail/memory/multipool_statistics.hpp>
#include <headroom/detail/memory/page_runs.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// What is done to the bytes of a block that is free from now on: in checked builds they are filled, so that a write to them
// is noticed, and sanitizers are told.
HEADROOM_ALWAYS_INLINE void hide_free(void* block, std::size_t size) noexcept {
    if constexpr (memory_checked || poisoning) {
        detail::unpoison(block, size);
        memory_checks::fill(block, sizeof(free_block), size);
        detail::poison(block, size);
    }
}

// What a multipool knows of its slabs. Made when its first area is; lies in memory of upstream's.
class slab_space {
public:
    explicit slab_space(std::pmr::memory_resource* upstream) noexcept : runs_(upstream) {}
    slab_space(const slab_space&) = delete;
    slab_space& operator=(const slab_space&) = delete;

    // The pages that slabs are runs of. (What else takes some marks them as used.)
    [[nodiscard]] page_runs& runs() noexcept { return runs_; }
    [[nodiscard]] const page_runs& runs() const noexcept { return runs_; }

    // All blocks are forgotten; the areas stay.
    void start_over() noexcept {
        runs_.start_over();
        sizes_ = {};
    }

    // Blocks of bin `index` for its queue, at least one; false when there is none without more memory.
    [[nodiscard]] bool refill(bin_queue& queue, std::size_t index) noexcept {
        size_state& mine = sizes_[index];
        if (!mine.waiting.empty()) {
            (void)queue.take_from(mine.waiting, most_in_turn);
            mine.asked = true;
        } else if (!mine.loose.empty()) {
            (void)queue.take_from(mine.loose, most_in_turn);
        } else {
            return refill_from_slab(queue, index);
        }
        return true;
    }

    // A block of a slab, and others of it into the queue; null where there are neither slabs with free blocks nor free pages for one.
    void* take_from_slab(bin_queue& queue, std::size_t index) noexcept {
        bin_queue found;
        found.clear();
        if (!refill_from_slab(found, index)) return nullptr;
        void* const block = found.take();
        if (!found.empty()) queue.append(found);
        return block;
    }

    // These pages become a slab of bin `index`.
    void open(const page_runs::run& pages, std::size_t index) noexcept {
        area& of = *pages.of;
        const std::size_t at = pages.index;
        const std::size_t count = detail::slab_pages(index);
        for (std::size_t i = 0; i < count; ++i) {
            of.counts[at + i].bin = static_cast<std::uint8_t>(index);
            of.counts[at + i].back = static_cast<std::uint8_t>(i);
        }
        of.counts[at].freed = of.counts[at].used = of.counts[at].cut = 0;
        of.links[at].start = of.place(at) + first_line(index, at);
        sizes_[index].current = pages;
        sizes_[index].pages += static_cast<std::uint32_t>(count);
    }
    // Whether there is a slab of that bin.
    [[nodiscard]] bool has_slabs(std::size_t index) const noexcept { return sizes_[index].pages != 0; }

    // Whether it matters in which order blocks of that size are handed out: it does where there are many, so that their slabs take
    // more than the processor's nearest caches hold. Where it does not, what came back may wait until somebody looks for empty slabs.
    [[nodiscard]] bool order_matters(std::size_t index) const noexcept {
        return sizes_[index].pages > few_slabs * shapes[index].pages;
    }

    // The blocks of the queue, at least one, wait from now on for being taken back into their slabs; refill finds them first. Those
    // that waited until now are taken back: says whether there were any, and none was asked for in the meantime. O(those).
    bool let_wait(bin_queue& queue, std::size_t index) noexcept {
        size_state& mine = sizes_[index];
        free_block* const waited = mine.waiting.take_all();
        mine.waiting.clear();
        mine.waiting.append(queue);
        queue.clear();
        settle(waited, index);
        return !std::exchange(mine.asked, false) && waited != nullptr;
    }
    // Takes those that wait back into their slabs. O(those).
    void settle_waiting(std::size_t index) noexcept { settle(sizes_[index].waiting.take_all(), index); }
    // And those of the queue.
    void settle(bin_queue& queue, std::size_t index) noexcept {
        settle_waiting(index);
        settle(queue.take_all(), index);
    }
    // Takes a list whose last link is null back into its slabs. O(blocks).
    void settle(free_block* block, std::size_t index) noexcept {
        while (block != nullptr) {
            area* const of = runs_.find(block);
            if (of == nullptr) {
                bin_queue& loose = sizes_[index].loose;
                if (loose.last == nullptr) loose.clear();
                loose.add(std::exchange(block, detail::next_of(block)));
            } else {
                block = detail::slab_pages(index) == 1 ? settle_in<false>(*of, block, index) : settle_in<true>(*of, block, index);
            }
        }
    }

    // Free blocks of bin `index` outside of slabs.
    [[nodiscard]] bin_queue& loose(std::size_t index) noexcept { return sizes_[index].loose; }

    // Adds what there is of each size, in slabs and besides, but for what is in the queues; all that was cut counts as in use.
    void count(std::array<multipool_statistics::size_class, bins>& classes) const noexcept {
        for (const area* const each : runs_) {
            each->each([&](std::size_t, std::size_t, const page_counts& found) noexcept {
                if (found.bin >= page_counts::free_run) return;
                multipool_statistics::size_class& of = classes[found.bin];
                ++of.slabs;
                of.in_use += found.cut;
                of.free += free_in(found);
            });
        }
        for (std::size_t index = 0; index < bins; ++index) {
            classes[index].free += sizes_[index].waiting.count() + sizes_[index].loose.count();
        }
    }

private:
    static constexpr std::uint32_t most_in_turn = 128;    // blocks that waited and are handed out at a time

    // What there is of one size.
    struct size_state {
        page_links* first = nullptr;    // slabs with free blocks, in the order in which they got some
        page_links* last = nullptr;
        page_runs::run current{};    // the slab that blocks are being cut from
        bin_queue waiting{};         // what came back, and is taken back into its slabs unless it is asked for before
        bin_queue loose{};           // of no slab
        std::uint32_t pages = 0;     // of its slabs
        bool asked = false;          // whether a waiting block was handed out since they began to wait
    };

    page_runs::run home_of(const page_links& slab) noexcept {
        area* const of = runs_.find(slab.start);
        return {of, of->index_of(slab)};
    }
    // Blocks in the slab's list.
    static std::size_t free_in(const page_counts& slab) noexcept { return std::size_t{slab.cut} - slab.used; }
    static std::size_t stride_of(const bin_shape& shape) noexcept { return std::size_t{shape.bytes} + shape.gap; }

    // Takes blocks back into the slabs of one area, up to the first that lies elsewhere, which it returns; or null. (This is half of
    // what giving a block back takes: all that is rare is out of line.)
    template <bool Several>    // pages in a slab
    [[gnu::noinline]] free_block* settle_in(area& of, free_block* block, std::size_t index) noexcept {
        std::byte* const base = of.memory.data;
        const std::size_t bytes = of.frontier * pool_page;
        page_counts* const counts = of.counts;
        while (true) {
            std::size_t offset = detail::address_of(block) - detail::address_of(base);
            if (HEADROOM_UNLIKELY(offset >= bytes)) return block;    // (so is null)
            page_counts* home = counts + offset / pool_page;
            auto* place = reinterpret_cast<std::byte*>(block) - offset % pool_page;
            offset %= pool_page;
            if constexpr (Several) {
                place -= home->back * pool_page;
                offset += home->back * pool_page;
                home -= home->back;
            }
            // Blocks that came back one after the other and lie in one page travel together.
            free_block* last = block;
            free_block* next = detail::next_of(last);
            std::uint32_t count = 1;
            for (; (detail::address_of(next) ^ detail::address_of(block)) < pool_page; ++count) {
                last = next;
                next = detail::next_of(last);
            }
            const std::size_t freed = home->freed;
            home->used = static_cast<std::uint16_t>(home->used - count);
            if (HEADROOM_UNLIKELY(home->used == 0)) {
                close({&of, static_cast<std::size_t>(home - counts)}, index, freed != 0);
            } else {
                // (The last link says nothing: a list ends after so many.)
                detail::link(last, place + freed - 1);
                home->freed = static_cast<std::uint16_t>(offset + 1);
                if (HEADROOM_UNLIKELY(freed == 0)) append(of, static_cast<std::size_t>(home - counts), index);
            }
            block = next;
        }
    }

    // The slab's pages are free.
    [[gnu::noinline]] void close(const page_runs::run& slab, std::size_t index, bool listed) noexcept {
        size_state& mine = sizes_[index];
        page_links& links = slab.of->links[slab.index];
        if (listed) unlink(mine, links);
        if (mine.current == slab) mine.current = {};    // (though blocks were still to be cut from it)
        const std::size_t count = detail::slab_pages(index);
        mine.pages -= static_cast<std::uint32_t>(count);
        runs_.give_back(slab, count);
    }

    [[gnu::noinline]] void append(const area& of, std::size_t at, std::size_t index) noexcept {
        size_state& mine = sizes_[index];
        page_links& added = of.links[at];
        added.next = nullptr;
        added.previous = mine.last;
        (mine.last != nullptr ? mine.last->next : mine.first) = &added;
        mine.last = &added;
    }
    static void unlink(size_state& mine, const page_links& gone) noexcept {
        (gone.previous != nullptr ? gone.previous->next : mine.first) = gone.next;
        (gone.next != nullptr ? gone.next->previous : mine.last) = gone.previous;
    }

    HEADROOM_ALWAYS_INLINE bool refill_from_slab(bin_queue& queue, std::size_t index) noexcept {
        size_state& mine = sizes_[index];
        if (mine.current) {
            cut_some(queue, mine, index);
        } else if (mine.first != nullptr) {
            take_free(queue, mine, index);
        } else {
            return refill_from_free_run(queue, index);
        }
        return true;
    }
    [[gnu::noinline]] bool refill_from_free_run(bin_queue& queue, std::size_t index) noexcept {
        const page_runs::run found = runs_.take(detail::slab_pages(index));
        if (!found) return false;
        open(found, index);
        cut_some(queue, sizes_[index], index);
        return true;
    }

    // Slabs of those sizes that have gaps begin in different lines of the cache too.
    static std::size_t first_line(std::size_t index, std::size_t at) noexcept {
        const bin_shape& shape = shapes[index];
        if (shape.gap == 0) return 0;
        const std::size_t unused = shape.pages * pool_page - shape.blocks * stride_of(shape);
        return at / shape.pages * shape.blocks % (unused / shape.gap + 1) * shape.gap;
    }

    // Cuts blocks from the current slab: a page's worth, then as many as it has been cut into, so that a slab of which little is used
    // is not written to as a whole.
    void cut_some(bin_queue& queue, size_state& mine, std::size_t index) noexcept {
        page_counts& from = mine.current.of->counts[mine.current.index];
        const bin_shape& shape = shapes[index];
        const std::size_t size = shape.bytes;
        const std::size_t stride = stride_of(shape);
        const std::size_t count =
            (std::min)(std::size_t{shape.blocks} - from.cut, std::size_t{(std::max)(from.cut, shape.first)});
        std::byte* place = mine.current.of->links[mine.current.index].start + from.cut * stride + shape.gap;
        free_block* tail = queue.last;
        for (std::size_t i = 0; i < count; ++i, place += stride) {
            detail::hide_free(place, size);
            detail::link(tail, place);
            tail = reinterpret_cast<free_block*>(place);
        }
        queue.last = tail;
        from.cut = static_cast<std::uint16_t>(from.cut + count);
        from.used = static_cast<std::uint16_t>(from.used + count);
        if (from.cut == shape.blocks) mine.current = {};
    }

    // Takes the free blocks of the first slab that has some, in order of addresses.
    void take_free(bin_queue& queue, size_state& mine, std::size_t index) noexcept {
        std::byte* const start = mine.first->start;
        const page_runs::run home = home_of(*mine.first);
        page_counts& from = home.of->counts[home.index];
        const auto free = static_cast<std::uint16_t>(free_in(from));
        unlink(mine, *mine.first);
        const auto stride = static_cast<std::uint32_t>(stride_of(shapes[index]));
        const auto* block = reinterpret_cast<const free_block*>(home.place() + from.freed - 1);
        if (free >= few_free) {
            // Its memory may have been left alone for long: asked for at once it arrives sooner than link by link.
            const std::size_t step = (std::max)(std::size_t{stride}, std::size_t{64});
            for (std::size_t line = 0; line < from.cut * std::size_t{stride}; line += step) HEADROOM_PREFETCH(start + line);
        }
        std::array<std::uint64_t, pool_page / block_step / 64> marks{};
        for (std::uint16_t left = free; left > 0; --left) {
            const auto offset = static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(block) - start);
            const std::uint32_t which = offset / stride;
            marks[which / 64] |= std::uint64_t{1} << which % 64;
            block = detail::next_of(block);
        }
        from.freed = 0;
        from.used = static_cast<std::uint16_t>(from.used + free);
        free_block* tail = queue.last;
        for (std::size_t word = 0; word < marks.size(); ++word) {
            for (std::uint64_t left = marks[word]; left != 0; left &= left - 1) {
                const std::size_t which = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
                std::byte* const found = start + which * stride + shapes[index].gap;
                detail::link(tail, found);
                tail = reinterpret_cast<free_block*>(found);
            }
        }
        queue.last = tail;
    }

    static constexpr std::uint16_t few_free = 8;
    static constexpr std::size_t few_slabs = 16;

    page_runs runs_;
    std::array<size_state, bins> sizes_{};
};

}}}    // namespace headroom::detail
