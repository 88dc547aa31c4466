// Where a multipool keeps its free blocks once it has grown beyond a few kilobytes: in the slabs that they were cut from.
//
// A slab is a run of pages cut into blocks of one size. What a container gave back in whatever order lies together again slab
// by slab, and comes out in order of addresses, the lowest empty slab first; so a container that is built in memory that another
// one left behind finds it as dense, and as much in order, as if it were fresh. (Handed out in the order in which they came
// back, the nodes of a hash table with a million elements lay scattered over all of its memory: building the next one took three
// times as long.) A slab whose blocks are all free is a run of empty pages, for slabs of any size.
//
// Slabs lie in areas: a reservation, or a chunk of upstream's that is large enough. What is known of a slab stands in arrays
// beside its area, not in the slab: giving blocks back then touches little memory besides them, and lines that do not all
// fall into the same set of the processor's cache. Blocks that lie elsewhere (in the first small chunks, or among blocks of
// other sizes) are called young, and are kept in a queue.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>

#include <headroom/detail/memory/areas.hpp>
#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/checks.hpp>
#include <headroom/detail/memory/chunks.hpp>

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

// Unused bytes before a block, where there is room. Blocks whose size is a multiple of a kilobyte would begin in few sets
// of the processor's cache: 256 of 4 KiB in one. A line between them, and their beginnings are spread over all.
HEADROOM_ALWAYS_INLINE constexpr std::size_t gap_before(std::size_t size) noexcept { return size % 1024 == 0 ? 64 : 0; }

// Granules of a slab for blocks of bin `index`: the nodes of containers get one page at a time, larger blocks at least seven
// to a slab.
constexpr std::size_t slab_granules(std::size_t index) noexcept {
    const std::size_t size = detail::bin_bytes(index);
    return size <= 128 ? 1 : size <= 512 ? 4 : size <= 1024 ? 8 : 16;
}

// What a multipool knows of its slabs. Made when its first area is; lies in memory of upstream's.
class slab_space {
public:
    explicit slab_space(std::pmr::memory_resource* upstream) noexcept : areas_(upstream) {}
    slab_space(const slab_space&) = delete;
    slab_space& operator=(const slab_space&) = delete;

    // All blocks are forgotten; the areas stay.
    void start_over() noexcept {
        areas_.start_over();
        sizes_ = {};
        active_ = nullptr;
        taken_ = 0;
    }

    // Makes [first, last) of a chunk the area that slabs are cut from, from now on. Throws what upstream throws.
    void enter(const void* chunk, bool reserved, std::byte* first, std::byte* last) {
        active_ = nullptr;
        active_ = areas_.enter(chunk, reserved, first, last);
    }

    [[nodiscard]] area* active() const noexcept { return active_; }

    // Blocks of bin `index` for its queue, at least one; false when there is none without more memory.
    [[nodiscard]] bool refill(bin_queue& queue, std::size_t index) noexcept {
        size_state& mine = sizes_[index];
        if (!mine.waiting.empty()) {
            queue.append(mine.waiting);
            mine.waiting.clear();
        } else if (!mine.young.empty()) {
            (void)queue.take_from(mine.young, most_in_turn);
        } else if (mine.current != nullptr) {
            cut_some(queue, mine, index);
        } else if (mine.first != nullptr) {
            take_free(queue, mine, index);
        } else {
            return refill_from_empties(queue, index);
        }
        return true;
    }

    // The next granules of the active area become a slab of bin `index`. Precondition: there is memory in them.
    void open_next(std::size_t index) noexcept {
        const std::size_t first = active_->frontier;
        areas_.advance(*active_, detail::slab_granules(index));
        taken_ += detail::slab_granules(index);
        open(*active_, first, index);
    }
    // They become memory for what is cut singly.
    void skip(std::size_t count) noexcept { areas_.advance(*active_, count); }
    // Empty pages become memory for what is cut singly; so many, a power of two up to 16. Null: there are none.
    [[nodiscard]] std::byte* take_pages(std::size_t count) noexcept {
        const area_table::run found = areas_.take_empty(count);
        return found.of == nullptr ? nullptr : found.of->place(found.index);
    }
    // What is left of the active area, up to `end`, is too short for what is wanted: its pages are there for others. No more
    // slabs are cut from it.
    void leave(const std::byte* end) noexcept {
        if (active_ == nullptr) return;
        const auto rest =
            (std::min)(static_cast<std::size_t>(end - active_->fill()) / slab_granule, active_->granules - active_->frontier);
        const std::size_t first = active_->frontier;
        areas_.advance(*active_, rest);
        if (rest > 0) areas_.set_empty(*active_, first, rest);
        active_ = nullptr;
    }

    // Whether so many granules were cut since the last call that said so that it is worth while to look for empty slabs.
    [[nodiscard]] bool may_collect() noexcept {
        if (taken_ < 16 + areas_.cut() / 16) return false;
        taken_ = 0;
        return true;
    }

    // Whether blocks of that bin are still few: they are cut singly then, among those of other sizes. Says so once, as the pages
    // that are taken for it hold many.
    [[nodiscard]] bool few(std::size_t index) noexcept { return index >= fine_bins && !std::exchange(sizes_[index].many, true); }

    // Whether it matters in which order blocks of that size are handed out: it does where their slabs take more than the processor's
    // nearest caches hold. Where it does not, what came back may wait until somebody looks for empty slabs.
    [[nodiscard]] bool order_matters(std::size_t index) noexcept {
        const bool result = sizes_[index].granules > (std::size_t{64} << 10) / slab_granule;
        sizes_[index].put_off |= !result;
        return result;
    }
    // Whether that was so since the last call: says so once.
    [[nodiscard]] bool was_put_off(std::size_t index) noexcept { return std::exchange(sizes_[index].put_off, false); }

    // The blocks of the queue, at least one, wait from now on for being taken back into their slabs; refill finds them first. Where
    // it did so several times, and they become more and more, they do not wait. Precondition: none waits.
    void let_wait(bin_queue& queue, std::size_t index) noexcept {
        size_state& mine = sizes_[index];
        if (++mine.turns == most_turns) {
            mine.turns = 0;
            if (queue.holds_more_than(2 * most_in_turn + blocks_in(index))) {
                settle_all_of(queue, index);
                return;
            }
        }
        mine.waiting.clear();
        mine.waiting.append(queue);
        queue.clear();
    }
    // Takes those that wait back into their slabs; says whether there were any. O(those).
    bool settle_waiting(std::size_t index) noexcept {
        if (!settle_all_of(sizes_[index].waiting, index)) return false;
        sizes_[index].turns = 0;
        return true;
    }
    // And those of the queue.
    void settle(bin_queue& queue, std::size_t index) noexcept {
        settle_waiting(index);
        settle_all_of(queue, index);
    }
    // Takes a list whose last link is null back into its slabs. O(blocks).
    void settle(free_block* block, std::size_t index) noexcept {
        while (block != nullptr) {
            area* const of = areas_.find(block);
            if (of == nullptr || !is_cut(*of, block, index)) {
                bin_queue& young = sizes_[index].young;
                if (young.last == nullptr) young.clear();
                young.add(std::exchange(block, detail::next_of(block)));
            } else {
                areas_.found(of);
                block =
                    detail::slab_granules(index) == 1 ? settle_in<false>(*of, block, index) : settle_in<true>(*of, block, index);
            }
        }
    }

    // A slab in which nothing is in use is empty, though blocks are still to be cut from it.
    void close_unused(std::size_t index) noexcept {
        size_state& mine = sizes_[index];
        if (mine.current == nullptr) return;
        area& of = *areas_.find(mine.current->start);
        const std::size_t at = of.index_of(*mine.current);
        if (of.counts[at].used != 1) return;
        mine.current = nullptr;
        set_empty(of, at, index, of.counts[at].freed != 0);
    }

    // Gives the memory of empty slabs back: of reservations to the system, which keeps the addresses; of upstream's chunks those in
    // which nothing else lies: `give_back(which)` gives back each chunk of which `which(chunk)` says so. Returns how many bytes.
    // O(slabs), and `which` is O(log chunks).
    template <class GiveBack>
    std::size_t trim(GiveBack give_back) noexcept {
        std::size_t result = 0;
        const auto unused = [this](const area& each) noexcept {
            return !each.reserved && &each != active_ && each.frontier > 0 && each.empties == each.frontier;
        };
        give_back([&](const void* chunk) noexcept {
            const area* const in_it = areas_.in_chunk(chunk);
            return in_it != nullptr && unused(*in_it);
        });
        areas_.remove_if([&](const area& each) noexcept {
            const bool gone = unused(each);
            if (gone) result += each.granules * slab_granule;
            return gone;
        });
        for (area* const each : areas_) {
            if (each->reserved) result += each->discard_empties();
        }
        return result;
    }

    // What there is of one size, in slabs and besides.
    struct usage {
        std::size_t slabs = 0;
        std::size_t cut = 0;     // blocks of slabs
        std::size_t free = 0;    // of those and of young ones, but for what is in the queue
    };
    [[nodiscard]] std::array<usage, bins> usages() const noexcept {
        std::array<usage, bins> result{};
        for (const area* const each : areas_) {
            for (std::size_t at = 0; at < each->frontier; ++at) {
                const slab_counts& found = each->counts[at];
                if (found.bin == slab_counts::none || found.back != 0) continue;
                usage& of = result[found.bin];
                ++of.slabs;
                of.cut += found.cut;
                of.free += found.cut + std::size_t{sizes_[found.bin].current == &each->slabs[at]} - found.used;
            }
        }
        for (std::size_t index = 0; index < bins; ++index)
            result[index].free += sizes_[index].waiting.count() + sizes_[index].young.count();
        return result;
    }
    [[nodiscard]] std::size_t empty_bytes() const noexcept {
        std::size_t result = 0;
        for (const area* const each : areas_) result += each->empties * slab_granule;
        return result;
    }

private:
    static constexpr std::size_t most_cut = 4096;    // bytes that are cut into blocks at a time

    // How often blocks may wait and be asked for again before they are counted, and how many come and go in turn at most;
    // besides these there may be those that were handed out at a time.
    static constexpr std::uint8_t most_turns = 4;
    static constexpr std::uint32_t most_in_turn = 128;

    // What there is of one size.
    struct size_state {
        slab* first = nullptr;    // those with free blocks, in the order in which they got some
        slab* last = nullptr;
        slab* current = nullptr;    // the one that blocks are being cut from
        bin_queue waiting{};        // what came back, and is taken back into its slabs unless it is asked for before
        bin_queue young{};
        std::uint32_t granules = 0;    // of its slabs
        std::uint8_t turns = 0;        // how often what waited was asked for again
        bool many = false;             // pages for what is cut singly were taken for this size already
        bool put_off = false;          // what came back was left as it is (see order_matters)
    };

    static std::size_t blocks_in(std::size_t index) noexcept {
        const std::size_t size = detail::bin_bytes(index);
        return detail::slab_granules(index) * slab_granule / (size + detail::gap_before(size));
    }

    bool settle_all_of(bin_queue& queue, std::size_t index) noexcept {
        if (queue.empty()) return false;
        detail::link(queue.last, nullptr);
        settle(queue.before.next, index);
        queue.clear();
        return true;
    }

    // Takes blocks back into the slabs of one area, up to the first that was cut from none of them, which it returns; or null. (This
    // is half of what giving a block back takes: all that is rare is out of line.)
    template <bool Several>    // granules in a slab
    [[gnu::noinline]] free_block* settle_in(area& of, free_block* block, std::size_t index) noexcept {
        std::byte* const base = of.base;
        const std::size_t bytes = of.frontier * slab_granule;
        slab_counts* const counts = of.counts;
        while (true) {
            std::size_t offset = detail::address_of(block) - detail::address_of(base);
            if (HEADROOM_UNLIKELY(offset >= bytes)) return block;    // (so is null)
            slab_counts* home = counts + offset / slab_granule;
            if (HEADROOM_UNLIKELY(home->bin != static_cast<std::uint8_t>(index))) return block;
            auto* place = reinterpret_cast<std::byte*>(block) - offset % slab_granule;
            offset %= slab_granule;
            if constexpr (Several) {
                place -= home->back * slab_granule;
                offset += home->back * slab_granule;
                home -= home->back;
            }
            // Blocks that came back one after the other and lie in one page travel together.
            free_block* last = block;
            free_block* next = detail::next_of(last);
            std::uint32_t count = 1;
            for (; (detail::address_of(next) ^ detail::address_of(block)) < slab_granule; ++count) {
                last = next;
                next = detail::next_of(last);
            }
            const std::size_t freed = home->freed;
            home->used = static_cast<std::uint16_t>(home->used - count);
            if (HEADROOM_UNLIKELY(home->used == 0)) {
                set_empty(of, static_cast<std::size_t>(home - counts), index, freed != 0);
            } else {
                // (The last link says nothing: a list ends after so many.)
                detail::link(last, place + freed - 1);
                home->freed = static_cast<std::uint16_t>(offset + 1);
                if (HEADROOM_UNLIKELY(freed == 0)) append(of, static_cast<std::size_t>(home - counts), index);
            }
            block = next;
        }
    }

    // Whether a block, which lies in that area, was cut from a slab of that bin; if not it is young.
    static bool is_cut(const area& of, const void* block, std::size_t index) noexcept {
        return of.counts[(detail::address_of(block) - detail::address_of(of.base)) / slab_granule].bin == index;
    }

    [[gnu::noinline]] void set_empty(area& of, std::size_t at, std::size_t index, bool listed) noexcept {
        if (listed) unlink(sizes_[index], of.slabs[at]);
        const std::size_t count = detail::slab_granules(index);
        sizes_[index].granules -= static_cast<std::uint32_t>(count);
        areas_.set_empty(of, at, count);
    }

    [[gnu::noinline]] void append(const area& of, std::size_t at, std::size_t index) noexcept {
        size_state& mine = sizes_[index];
        slab& added = of.slabs[at];
        added.next = nullptr;
        added.previous = mine.last;
        (mine.last != nullptr ? mine.last->next : mine.first) = &added;
        mine.last = &added;
    }
    static void unlink(size_state& mine, const slab& gone) noexcept {
        (gone.previous != nullptr ? gone.previous->next : mine.first) = gone.next;
        (gone.next != nullptr ? gone.next->previous : mine.last) = gone.previous;
    }

    [[gnu::noinline]] bool refill_from_empties(bin_queue& queue, std::size_t index) noexcept {
        const area_table::run found = areas_.take_empty(detail::slab_granules(index));
        if (found.of == nullptr) return false;
        open(*found.of, found.index, index);
        cut_some(queue, sizes_[index], index);
        return true;
    }

    void open(area& of, std::size_t at, std::size_t index) noexcept {
        const std::size_t count = detail::slab_granules(index);
        for (std::size_t i = 0; i < count; ++i) {
            of.counts[at + i].bin = static_cast<std::uint8_t>(index);
            of.counts[at + i].back = static_cast<std::uint8_t>(i);
        }
        of.counts[at].freed = of.counts[at].cut = 0;
        of.counts[at].used = 1;
        of.slabs[at].start = of.place(at) + first_line(index, at);
        sizes_[index].current = &of.slabs[at];
        sizes_[index].granules += static_cast<std::uint32_t>(count);
    }

    // Slabs of those sizes that have gaps begin in different lines of the cache too.
    static std::size_t first_line(std::size_t index, std::size_t at) noexcept {
        const std::size_t size = detail::bin_bytes(index);
        const std::size_t gap = detail::gap_before(size);
        if (gap == 0) return 0;
        const std::size_t unused = detail::slab_granules(index) * slab_granule - blocks_in(index) * (size + gap);
        return at / detail::slab_granules(index) * blocks_in(index) % (unused / gap + 1) * gap;
    }

    // Cuts the next page's worth of blocks from the current slab.
    void cut_some(bin_queue& queue, size_state& mine, std::size_t index) noexcept {
        const area& of = *areas_.find(mine.current->start);
        slab_counts& from = of.counts[of.index_of(*mine.current)];
        const std::size_t size = detail::bin_bytes(index);
        const std::size_t gap = detail::gap_before(size);
        const std::size_t all = blocks_in(index);
        const std::size_t count = (std::min)(all - from.cut, (std::max)(most_cut / size, std::size_t{1}));
        std::byte* place = mine.current->start + from.cut * (size + gap) + gap;
        free_block* tail = queue.last;
        for (std::size_t i = 0; i < count; ++i, place += size + gap) {
            detail::hide_free(place, size);
            detail::link(tail, place);
            tail = reinterpret_cast<free_block*>(place);
        }
        queue.last = tail;
        from.cut = static_cast<std::uint16_t>(from.cut + count);
        from.used = static_cast<std::uint16_t>(from.used + count);
        if (from.cut != all) return;
        --from.used;    // (its blocks are in the queue, so it is not empty yet)
        mine.current = nullptr;
    }

    // Takes the free blocks of the first slab that has some, in order of addresses.
    void take_free(bin_queue& queue, size_state& mine, std::size_t index) noexcept {
        std::byte* const start = mine.first->start;
        const area& of = *areas_.find(start);
        const std::size_t at = of.index_of(*mine.first);
        slab_counts& from = of.counts[at];
        unlink(mine, *mine.first);
        const auto stride = static_cast<std::uint32_t>(detail::bin_bytes(index) + detail::gap_before(detail::bin_bytes(index)));
        const std::size_t gap = detail::gap_before(detail::bin_bytes(index));
        const auto* block = reinterpret_cast<const free_block*>(of.place(at) + from.freed - 1);
        const auto free = static_cast<std::uint16_t>(from.cut - from.used);
        if (free >= few_free) {
            // Its memory may have been left alone for long: asked for at once it arrives sooner than link by link.
            const std::size_t step = (std::max)(std::size_t{stride}, std::size_t{64});
            for (std::size_t line = 0; line < from.cut * std::size_t{stride}; line += step) HEADROOM_PREFETCH(start + line);
        }
        std::array<std::uint64_t, slab_granule / block_step / 64> marks{};
        for (std::uint16_t left = free; left > 0; --left) {
            const auto offset = static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(block) - start);
            const std::uint32_t which = offset / stride;
            marks[which / 64] |= std::uint64_t{1} << which % 64;
            block = detail::next_of(block);
        }
        from.freed = 0;
        from.used = from.cut;
        free_block* tail = queue.last;
        for (std::size_t word = 0; word < marks.size(); ++word) {
            for (std::uint64_t left = marks[word]; left != 0; left &= left - 1) {
                const std::size_t which = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
                std::byte* const found = start + which * stride + gap;
                detail::link(tail, found);
                tail = reinterpret_cast<free_block*>(found);
            }
        }
        queue.last = tail;
    }

    static constexpr std::uint16_t few_free = 8;

    area_table areas_;
    area* active_ = nullptr;    // the one that slabs are cut from
    std::size_t taken_ = 0;     // granules since empty slabs were last looked for
    std::array<size_state, bins> sizes_{};
};

}}}    // namespace headroom::detail
