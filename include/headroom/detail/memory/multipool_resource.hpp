// The multipool for one thread; see multipool.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/checks.hpp>
#include <headroom/detail/memory/chunks.hpp>
#include <headroom/detail/memory/large.hpp>
#include <headroom/detail/memory/multipool_statistics.hpp>
#include <headroom/detail/memory/slabs.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

class multipool_resource final : public std::pmr::memory_resource {
public:
    // Chunks come from the default resource (see above). Allocates nothing. Never throws.
    multipool_resource() noexcept : multipool_resource(std::pmr::pool_options{}) {}

    // Chunks come from `upstream`, which must outlive the resource. Allocates nothing. Never throws.
    explicit multipool_resource(std::pmr::memory_resource* upstream) noexcept
        : multipool_resource(std::pmr::pool_options{}, upstream) {}

    // As std::pmr's. `largest_required_pool_block` is rounded up to a pool's size, at most 64 KiB; `max_blocks_per_chunk`
    // limits the chunks taken from upstream to so many blocks of the size that ran out (one at least).
    explicit multipool_resource(const std::pmr::pool_options& options) noexcept
        : multipool_resource(options, std::pmr::get_default_resource(), true) {}
    multipool_resource(const std::pmr::pool_options& options, std::pmr::memory_resource* upstream) noexcept
        : multipool_resource(options, upstream, false) {}

    multipool_resource(const multipool_resource&) = delete;
    multipool_resource& operator=(const multipool_resource&) = delete;

    // Releases. Invalidates: every block.
    ~multipool_resource() override {
        large_.release(upstream_resource());
        forget_slabs();
    }

    // `bytes` at a multiple of `alignment` (a power of two). O(1) but for a new chunk. Throws what upstream throws when it
    // refuses, bad_alloc for sizes that no memory has; nothing has changed then. Invalidates: nothing.
    [[nodiscard, gnu::returns_nonnull]] HEADROOM_ALWAYS_INLINE void* allocate(std::size_t bytes,
                                                                              std::size_t alignment = alignof(std::max_align_t)) {
        [[maybe_unused]] const auto remembering = checks_.expected();
        const std::size_t last = detail::last_byte(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= detail::largest_binned || alignment > fine_alignment)) {
            return allocate_rare(bytes, alignment);
        }
        const std::size_t pool = detail::bin_offset[last / detail::block_step];
        detail::free_block* const block = pool_at(pool).before.next;
        if (block == pool_at(pool).last) return carve(pool, block, bytes, alignment);
        pool_at(pool).before.next = detail::next_of(block);
        return handed_out(block, bytes, alignment, pool);
    }

    // Takes back a block of this resource, for the next of its size. O(1). One above the largest pool goes upstream; where it
    // came from a reservation it is kept for one of like size, while no more than 8 blocks and 8 MiB are (in checked builds:
    // none). Precondition: allocate(bytes, alignment) returned `block`, which is in use. (Checked builds look.) Invalidates:
    // the block.
    HEADROOM_ALWAYS_INLINE void deallocate(void* block, std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        checks_.deallocated(this, block, bytes, alignment);
        const std::size_t last = detail::last_byte(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= detail::largest_binned || alignment > fine_alignment)) {
            return deallocate_rare(block, bytes, alignment);
        }
        const std::size_t pool = detail::bin_offset[last / detail::block_step];
        // Now and then what came back is put in order. (Options may exclude some of these pools: they never have room.)
        if (HEADROOM_UNLIKELY(--pool_at(pool).room < 0)) return deallocate_and_settle(pool, block, bytes, alignment);
        detail::link(pool_at(pool).last, block);
        pool_at(pool).last = static_cast<detail::free_block*>(block);
        taken_back(block, pool);
    }

    // Gives every chunk and every large block back upstream. O(chunks + large blocks). Invalidates: every block.
    void release() noexcept {
        forget();
        large_.release(upstream_resource());
        forget_slabs();
        chain_.release();
    }

    // Forgets all blocks and keeps every chunk for the next round; large blocks are kept for one round, also those given back
    // in this one. O(pools used + chunks + large blocks). Invalidates: every block.
    void rewind() noexcept {
        forget();
        large_.rewind(upstream_resource());
        chain_.rewind();
        // (A large chunk may have become the first, where what was asked for first did not fit into the one that was.)
        if (chain_.active() != nullptr) enter_chunk();
    }

    // Gives memory back that no block in use needs: empty slabs of reservations to the system, chunks that hold nothing but empty
    // slabs to upstream, large blocks that were kept. Returns the bytes of slabs (of reservations also of those that were given back
    // before and not used since). O(slabs + free blocks). Invalidates: nothing.
    // Precondition, as of every call: not from an upstream, or a new_handler, that this resource has called.
    std::size_t trim() noexcept;

    // What the pools hold at this moment. O(slabs + free blocks). Invalidates: nothing.
    [[nodiscard]] multipool_statistics statistics() const noexcept;

    // Where chunks come from, as named or as the default resource was when this was constructed.
    [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return chain_.upstream(); }

    // The options in effect.
    [[nodiscard]] std::pmr::pool_options options() const noexcept { return {most_blocks_, largest_}; }

private:
    friend class synchronized_multipool_resource;

    // Blocks whose size is a multiple of this are aligned to it, the others to block_step; more alignment is rare enough to
    // have pools of its own.
    static constexpr std::size_t fine_alignment = 2 * detail::block_step;
    static constexpr std::size_t most_aligned = 4096;    // largest alignment that is pooled
    static constexpr std::size_t most_blocks = std::size_t{1} << 19;
    static constexpr std::size_t first_slab = 256;    // bytes; each next one is twice as large
    static constexpr std::size_t largest_slab = 4096;
    static constexpr std::size_t least_area = std::size_t{64} << 10;    // bytes of a chunk for slabs
    static constexpr std::size_t single_granules = 4;                   // for what is cut singly, at a time
    // How many blocks come back between two looks at their queue; and how many while many come and none is asked for.
    static constexpr std::int32_t room_between = 128;
    static constexpr std::int32_t room_among_many = 16;
    static constexpr std::int32_t few_back = 32;
    static constexpr std::int32_t room_without_slabs = INT32_MAX;
    static constexpr std::size_t all_bins = detail::bins + detail::wide_bins;
    // Whether large blocks are kept when they are given back. In checked builds they are not: most of their memory becomes
    // inaccessible instead, and a late write to it faults.
    static constexpr bool keeping = !detail::memory_checked;

    // What few resources need: pools for wide blocks and for over-aligned ones. Lies in a chunk of the resource itself.
    struct rare_pools {
        std::array<detail::bin_queue, detail::wide_bins> wide{};
        std::array<detail::bin_queue, all_bins> aligned{};
    };

    multipool_resource(const std::pmr::pool_options& options, std::pmr::memory_resource* upstream, bool defaulted) noexcept
        : chain_(upstream, defaulted && detail::may_reserve(upstream)),
          largest_(options.largest_required_pool_block == 0 ? detail::largest_pooled
                                                            : detail::bin_bytes(detail::bin_index((std::min)(
                                                                  options.largest_required_pool_block, detail::largest_pooled)))),
          most_blocks_(options.max_blocks_per_chunk == 0 ? most_blocks : (std::min)(options.max_blocks_per_chunk, most_blocks)) {}

    // Pools are named by their distance from the first, in bytes: what the table gives, and what an address needs.
    HEADROOM_ALWAYS_INLINE detail::bin& pool_at(std::size_t pool) noexcept {
        return *reinterpret_cast<detail::bin*>(reinterpret_cast<std::byte*>(pools_.data()) + pool);
    }
    HEADROOM_ALWAYS_INLINE static std::size_t size_of(std::size_t pool) noexcept {
        return detail::binned_bytes[pool / sizeof(detail::bin)];
    }

    // What is done to a block that leaves. Nothing in ordinary builds.
    HEADROOM_ALWAYS_INLINE void* handed_out(void* block, std::size_t bytes, std::size_t alignment, std::size_t pool) {
        if constexpr (detail::memory_checked) look_at(block, size_of(pool));
        return fresh(block, bytes, alignment);
    }
    HEADROOM_ALWAYS_INLINE void* fresh(void* block, std::size_t bytes, std::size_t alignment) {
        detail::unpoison(block, bytes);
        checks_.allocated(block, bytes, alignment);
        return block;
    }
    void look_at(void* block, std::size_t size) const noexcept {
        detail::reveal(block, size);
        checks_.untouched(this, block, sizeof(detail::free_block), size);
        detail::poison(block, size);
    }
    // And to one that comes back.
    HEADROOM_ALWAYS_INLINE static void taken_back(void* block, std::size_t pool) noexcept {
        if constexpr (detail::memory_checked || detail::poisoning) detail::hide_free(block, size_of(pool));
    }

    // No block is free, or only one: takes one that was never used. Chunks are filled to their ends.
    HEADROOM_ALWAYS_INLINE void* carve(std::size_t pool, const detail::free_block* first, std::size_t bytes,
                                       std::size_t alignment) {
        const std::size_t size = size_of(pool);
        detail::bytes_at_hand& from = at_hand(pool);
        // The next multiple of fine_alignment where the size is one; the cursor is a multiple of block_step.
        const std::size_t skipped = (detail::address_of(from.cursor) & ~size & detail::block_step) + detail::gap_before(size);
        if (HEADROOM_UNLIKELY(first == nullptr ||
                              detail::address_of(from.cursor) + skipped + size > detail::address_of(from.limit))) {
            return carve_far(pool, bytes, alignment);
        }
        std::byte* const place = from.cursor + skipped;
        from.cursor = place + size;
        ++pool_at(pool).single;
        return fresh(place, bytes, alignment);
    }
    [[gnu::noinline]] void* carve_far(std::size_t pool, std::size_t bytes, std::size_t alignment) {
        if (slabs_ != nullptr && pool_at(pool).last != nullptr && slabs_->refill(pool_at(pool), index_of(pool))) {
            return handed_out(pool_at(pool).take(), bytes, alignment, pool);
        }
        return carve_farther(pool, bytes, alignment);
    }
    void* carve_farther(std::size_t pool, std::size_t bytes, std::size_t alignment);
    HEADROOM_ALWAYS_INLINE static std::size_t index_of(std::size_t pool) noexcept { return pool / sizeof(detail::bin); }

    // Small blocks are cut from slabs of their own. The nodes of a container then lie densely, however large the strings or
    // containers are that they hold: going from node to node reads few lines of memory, and the processor sees them coming.
    // (Interleaved with strings of 500 characters, destroying a set took twice as long.)
    HEADROOM_ALWAYS_INLINE static bool is_small(std::size_t pool) noexcept {
        return pool < detail::fine_bins * sizeof(detail::bin);
    }
    HEADROOM_ALWAYS_INLINE detail::bytes_at_hand& at_hand(std::size_t pool) noexcept { return is_small(pool) ? slab_ : chain_; }

    // The next `size` bytes of the slab at a multiple of `aligned`, from the next slab if need be.
    void* cut_small(std::size_t size, std::size_t aligned) {
        if (!slab_.fits(size, aligned)) {
            std::size_t bytes = (std::max)(size, (std::min)(next_slab_, most_of(size)));
            // What is left of the chunk is better as a small slab than as blocks that nobody may ask for.
            if (chain_.fits(size, fine_alignment) && !chain_.fits(bytes, fine_alignment)) {
                bytes = static_cast<std::size_t>(chain_.limit - detail::align_up(chain_.cursor, fine_alignment));
            }
            auto* const slab = static_cast<std::byte*>(cut(bytes, fine_alignment, most_of(size)));
            next_slab_ = (std::min)(next_slab_ * 2, largest_slab);
            scrap(slab_.cursor, slab_.limit);
            slab_.cursor = slab;
            slab_.limit = slab + bytes;
        }
        std::byte* const place = detail::align_up(slab_.cursor, aligned);
        scrap(slab_.cursor, place);
        slab_.cursor = place + size;
        return place;
    }

    // How many bytes a chunk may have that is taken for blocks of that size.
    [[nodiscard]] std::size_t most_of(std::size_t size) const noexcept {
        const std::uint64_t most = std::uint64_t{most_blocks_} * size;
        return static_cast<std::size_t>((std::min<std::uint64_t>)(most, detail::chunk_chain::largest_chunk));
    }

    // The pool, ready for use. (It stays so over rewind and release, for the fast paths' sake.)
    detail::bin& enter(std::size_t index) noexcept {
        entered_ |= std::uint64_t{1} << index;
        if (pools_[index].last == nullptr) {
            pools_[index].clear();
            pools_[index].room = slabs_ == nullptr ? room_without_slabs : room_between;
        }
        return pools_[index];
    }

    // The next `size` bytes at a multiple of `aligned`, from the next chunk if need be, which has `most` bytes at most. What
    // cannot be used any more goes to the pools.
    void* cut(std::size_t size, std::size_t aligned, std::size_t most, std::size_t gap = 0) {
        if (!chain_.fits(size, aligned) && !widen(size, aligned, gap, how_for(size)) && !reuse_empties(size)) {
            take_chunk(size, aligned, most);
            if (!chain_.fits(size, aligned)) return cut(size, aligned, most, gap);
        }
        std::byte* place = detail::align_up(chain_.cursor, aligned);
        scrap(chain_.cursor, place);
        if (gap != 0 && chain_.fits(gap + size, aligned)) place += gap;
        chain_.cursor = place + size;
        return place;
    }

    // (Of large blocks the end is often not reached: a buffer has room for more than it holds.)
    static detail::arrival how_for(std::size_t size) noexcept {
        return size > detail::largest_binned ? detail::arrival::at_first_touch : detail::arrival::at_once;
    }

    // Another chunk becomes the active one. What cannot be used any more of the one before goes to the pools.
    void take_chunk(std::size_t size, std::size_t aligned, std::size_t most) {
        const std::byte* const end = slabs_at_work() ? chain_.active_end() : nullptr;
        const auto [from, to] = end == nullptr ? chain_.make_room(size, aligned, most, how_for(size))
                                               : chain_.next_chunk(size, aligned, most, how_for(size));
        if (end != nullptr) slabs_->leave(end);
        scrap(from, to);
        enter_chunk();
    }

    // Memory for that in the chunk at hand. False when there is none: a new chunk is wanted.
    bool widen(std::size_t size, std::size_t aligned, std::size_t gap, detail::arrival how) {
        if (!slabs_at_work()) return chain_.grow_in_place(size, aligned, how);
        // Among the slabs a few pages, for what is cut singly. (What is aligned most is aligned to a page.) Without the gap if need
        // be: in a chunk that is just as large as the block there is no room for it, nor would there be in the next one.
        const auto pages_for = [](std::size_t bytes) {
            return (std::max)((bytes + detail::slab_granule - 1) / detail::slab_granule, single_granules);
        };
        std::size_t count = pages_for(gap + size);
        if (!provide(count, how)) {
            const std::size_t least = pages_for(size);
            if (least == count || !provide(least, how)) return false;
            count = least;
        }
        std::byte* const from = slabs_->active()->fill();
        if (chain_.limit != from) {
            scrap(chain_.cursor, chain_.limit);
            chain_.cursor = from;
        }
        chain_.limit = from + count * detail::slab_granule;
        slabs_->skip(count);
        return true;
    }

    // Memory for that in empty slabs, before a new chunk is taken.
    bool reuse_empties(std::size_t size) noexcept;

    // Slabs are cut from the chunk at hand, if one is.
    [[nodiscard]] bool slabs_at_work() const noexcept { return slabs_ != nullptr && slabs_->active() != nullptr; }
    bool provide(std::size_t granules, detail::arrival how) noexcept {
        const detail::area& from = *slabs_->active();
        return granules <= from.granules - from.frontier && chain_.provide(from.fill(), granules * detail::slab_granule, how);
    }
    bool next_slab(std::size_t index) noexcept {
        if (!provide(detail::slab_granules(index), detail::arrival::at_once)) return false;
        slabs_->open_next(index);
        return slabs_->refill(pools_[index], index);
    }

    // A chunk has become the active one. If it is large it is an area for slabs from now on: but for the bytes before its first
    // page, which are at hand for what is cut singly.
    void enter_chunk() noexcept;

    // What the fast path leaves out: the pool is excluded by the options, or enough has come back to be put in order.
    void deallocate_and_settle(std::size_t pool, void* block, std::size_t bytes, std::size_t alignment);
    void settle_all() noexcept;
    // All that is free is put in order, also what was only just cut; so what can be empty is. O(free blocks).
    void settle_everything() noexcept;
    // Before upstream is asked for more: a block for that pool may have become free by that.
    bool refill_at_last(std::size_t index) noexcept;

    void forget_slabs() noexcept {
        if (slabs_ == nullptr) return;
        slabs_->~slab_space();
        upstream_resource()->deallocate(slabs_, sizeof(detail::slab_space), alignof(detail::slab_space));
        slabs_ = nullptr;
    }

    // Cuts [from, to) into blocks for the pools. Both ends are multiples of block_step.
    void scrap(std::byte* from, std::byte* to) noexcept {
        while (from != to) {
            const auto room = static_cast<std::size_t>(to - from);
            const bool odd = detail::address_of(from) % fine_alignment != 0;
            const std::size_t index = odd ? 0 : detail::bin_within((std::min)({room, largest_, detail::largest_binned}));
            add(index, from);
            from += detail::bin_bytes(index);
        }
    }

    void add(std::size_t index, void* block) noexcept {
        enter(index).add(block);
        ++pools_[index].single;
        if constexpr (detail::memory_checked || detail::poisoning) detail::hide_free(block, detail::bin_bytes(index));
    }

    // Many bytes, which are quick too where their pool has some; zero bytes, much alignment, or a size that the options
    // exclude from pooling, which are not.
    [[gnu::noinline]] void* allocate_rare(std::size_t bytes, std::size_t alignment) {
        if (is_wide(bytes, alignment)) {
            if (void* const block = rare_->wide[detail::wide_index(bytes)].take()) {
                if constexpr (detail::memory_checked) look_at(block, detail::bin_bytes(detail::bin_index(bytes)));
                return fresh(block, bytes, alignment);
            }
        } else if (bytes > detail::largest_pooled && alignment != 0 && (alignment & (alignment - 1)) == 0) {
            return allocate_large(bytes, alignment);
        }
        return allocate_slowly(bytes, alignment);
    }
    [[gnu::noinline]] void deallocate_rare(void* block, std::size_t bytes, std::size_t alignment) {
        if (bytes > detail::largest_pooled) return large_.deallocate(block, bytes, upstream_resource(), keeping);
        if (!is_wide(bytes, alignment)) return deallocate_slowly(block, bytes, alignment);
        rare_->wide[detail::wide_index(bytes)].add(block);
        if constexpr (detail::memory_checked || detail::poisoning)
            detail::hide_free(block, detail::bin_bytes(detail::bin_index(bytes)));
    }
    // Whether that belongs into a wide pool, and there are such pools.
    [[nodiscard]] bool is_wide(std::size_t bytes, std::size_t alignment) const noexcept {
        return bytes > detail::largest_binned && bytes <= largest_ && alignment - 1 < fine_alignment &&
               (alignment & (alignment - 1)) == 0 && rare_ != nullptr;    // (has_single_bit may be a call)
    }

    HEADROOM_COLD void* allocate_slowly(std::size_t bytes, std::size_t alignment) {
        if (!std::has_single_bit(alignment)) detail::refuse(upstream_resource());
        if (!pooled(bytes, alignment)) return allocate_large(bytes, alignment);
        const rare_place at = place_of(bytes, alignment);
        detail::bin_queue& pool = rare_pool(at);
        // (Zero bytes are a block of a common size.)
        const bool common = at.aligned <= fine_alignment && at.index < detail::bins;
        if (common && pool.empty() && slabs_ != nullptr) (void)slabs_->refill(pool, at.index);
        if (void* const block = pool.take()) {
            if constexpr (detail::memory_checked) look_at(block, at.size);
            return fresh(block, bytes, alignment);
        }
        const std::size_t gap = at.aligned > fine_alignment ? 0 : detail::gap_before(at.size);
        void* const block = fresh(cut(at.size, at.aligned, most_of(at.size), gap), bytes, alignment);
        if (common) ++pools_[at.index].single;
        // Its first page comes with a write, for it will be written to: after a read, as of a counter, it would come twice.
        if (bytes > detail::largest_binned) *static_cast<volatile unsigned char*>(block) = 0;
        return block;
    }
    HEADROOM_COLD void deallocate_slowly(void* block, std::size_t bytes, std::size_t alignment) {
        if (!pooled(bytes, alignment)) return large_.deallocate(block, bytes, upstream_resource(), keeping);
        const rare_place at = place_of(bytes, alignment);
        rare_pool(at).add(block);
        if constexpr (detail::memory_checked || detail::poisoning) detail::hide_free(block, at.size);
    }
    void* allocate_large(std::size_t bytes, std::size_t alignment) {
        return fresh(large_.allocate(bytes, alignment, upstream_resource(), chain_.reserves()), bytes, alignment);
    }

    // Where a request outside the common ones belongs.
    struct rare_place {
        std::size_t index;
        std::size_t size;
        std::size_t aligned;
    };
    static rare_place place_of(std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t index = detail::bin_index(detail::round_to((std::max<std::size_t>)(bytes, 1), alignment));
        const std::size_t size = detail::bin_bytes(index);
        // The size is a multiple of the alignment; whatever power of two it is a multiple of, up to a page, all blocks of
        // such a pool have.
        const std::size_t most = alignment <= fine_alignment ? fine_alignment : most_aligned;
        return {index, size, (std::min)(size & -size, most)};
    }
    [[nodiscard]] bool pooled(std::size_t bytes, std::size_t alignment) const noexcept {
        return alignment <= most_aligned && bytes <= largest_ &&
               detail::round_to((std::max<std::size_t>)(bytes, 1), alignment) <= largest_;
    }
    detail::bin_queue& rare_pool(const rare_place& at) {
        if (at.aligned <= fine_alignment && at.index < detail::bins) return enter(at.index);
        if (rare_ == nullptr) {
            void* const place = cut(sizeof(rare_pools), fine_alignment, most_of(sizeof(rare_pools)));
            detail::unpoison(place, sizeof(rare_pools));
            rare_ = new (place) rare_pools{};
        }
        detail::bin_queue& pool = at.aligned <= fine_alignment ? rare_->wide[at.index - detail::bins] : rare_->aligned[at.index];
        if (pool.last == nullptr) pool.clear();
        return pool;
    }

    void forget() noexcept {
        checks_.forgotten();
        for (std::uint64_t left = entered_; left != 0; left &= left - 1) {
            detail::bin& each = pools_[static_cast<std::size_t>(std::countr_zero(left))];
            each.clear();
            each.single = 0;
            each.room = slabs_ == nullptr ? room_without_slabs : room_between;
        }
        rare_ = nullptr;
        slab_ = {};
        next_slab_ = first_slab;
        if (slabs_ != nullptr) slabs_->start_over();
    }

    // Many blocks of one pool at once, for threads that share this (see threads.hpp): `into` gets `count` more, or fewer when
    // memory runs out, and then throws what upstream throws; `list` ends with a null link.
    void take_many(std::size_t index, detail::bin_queue& into, std::uint32_t count);
    void give_many(std::size_t index, detail::free_block* list) noexcept;

    // (The rest out of line: beside the common case it would cost that one registers.)
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        [[maybe_unused]] const auto remembering = checks_.expected();
        const std::size_t last = detail::last_byte(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= detail::largest_binned || alignment > fine_alignment)) {
            return allocate_out_of_line(bytes, alignment);
        }
        const std::size_t pool = detail::bin_offset[last / detail::block_step];
        detail::free_block* const block = pool_at(pool).before.next;
        if (HEADROOM_UNLIKELY(block == pool_at(pool).last)) return allocate_out_of_line(bytes, alignment);
        pool_at(pool).before.next = detail::next_of(block);
        return handed_out(block, bytes, alignment, pool);
    }
    [[gnu::noinline]] void* allocate_out_of_line(std::size_t bytes, std::size_t alignment) { return allocate(bytes, alignment); }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override { deallocate(block, bytes, alignment); }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    detail::chunk_chain chain_;
    detail::bytes_at_hand slab_;            // for small blocks
    std::size_t next_slab_ = first_slab;    // bytes of the next one
    std::size_t largest_;                   // bytes
    std::size_t most_blocks_;
    std::uint64_t entered_ = 0;    // the pools that were ever used, a bit each
    rare_pools* rare_ = nullptr;
    detail::slab_space* slabs_ = nullptr;    // null until a chunk is large enough
    detail::large_blocks large_;
    [[no_unique_address]] detail::memory_checks checks_{"multipool_resource"};
    std::array<detail::bin, detail::bins> pools_{};
};

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
