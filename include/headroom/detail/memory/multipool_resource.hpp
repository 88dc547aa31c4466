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
        if (HEADROOM_UNLIKELY(last >= detail::largest_short || alignment > detail::fine_alignment)) {
            return allocate_rare(bytes, alignment);
        }
        return take(detail::bin_offset[last / detail::block_step], bytes, alignment);
    }

    // Takes back a block of this resource, for the next of its size, or any other's. O(1). One above the largest pool goes upstream;
    // where chunks are reservations, below 1 MiB it stays in the pool, and a larger one is kept for one of like size, while no more
    // than 8 blocks and 8 MiB are (in checked builds: none). Precondition: allocate(bytes, alignment) returned `block`, which is in
    // use. (Checked builds look.) Invalidates: the block.
    HEADROOM_ALWAYS_INLINE void deallocate(void* block, std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        checks_.deallocated(this, block, bytes, alignment);
        const std::size_t last = detail::last_byte(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= detail::largest_short || alignment > detail::fine_alignment)) {
            return deallocate_rare(block, bytes, alignment);
        }
        take_back(detail::bin_offset[last / detail::block_step], block, bytes);
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
    }

    // Gives memory back that no block in use needs: free pages of reservations to the system, chunks in which no page is in use
    // to upstream, large blocks that were kept. Returns the bytes of the pages (of a reservation's free pages side by
    // side all count, where any was used since they were given back). O(pages + free blocks). Invalidates: nothing.
    // Precondition, as of every call: not from an upstream, or a new_handler, that this resource has called.
    std::size_t trim() noexcept;

    // What the pools hold at this moment. O(pages + free blocks). Invalidates: nothing.
    [[nodiscard]] multipool_statistics statistics() const noexcept;

    // Where chunks come from, as named or as the default resource was when this was constructed.
    [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return chain_.upstream(); }

    // The options in effect.
    [[nodiscard]] std::pmr::pool_options options() const noexcept { return {most_blocks_, largest_}; }

private:
    friend class synchronized_multipool_resource;

    static constexpr std::size_t most_aligned = detail::pool_page;    // largest alignment that is pooled
    static constexpr std::size_t most_blocks = std::size_t{1} << 19;
    // A piece of at least so many bytes is used page by page; a smaller one is cut singly. The second where the options allow as much: each
    // size takes a slab of its own, and a small program has many sizes.
    static constexpr std::size_t least_area = std::size_t{64} << 10;
    static constexpr std::size_t least_first_area = std::size_t{128} << 10;
    static constexpr std::size_t largest_run = (std::size_t{1} << 20) - 1;    // bytes: blocks that are pages of a reservation
    // How many blocks come back between two looks at their queue; and how many while many come and none is asked for.
    static constexpr std::int32_t room_between = 128;
    static constexpr std::int32_t room_among_many = 16;
    static constexpr std::int32_t few_back = 32;
    static constexpr std::int32_t room_without_slabs = INT32_MAX;    // and of blocks above 4 KiB
    // Whether blocks that no queue holds are kept when they are given back. In checked builds they are not: each is a piece of its
    // own, most of whose memory becomes inaccessible instead, and a late write to it faults.
    static constexpr bool keeping = !detail::memory_checked;

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
    HEADROOM_ALWAYS_INLINE static std::size_t size_of(std::size_t pool) noexcept { return detail::bin_bytes(index_of(pool)); }

    // A block of a pool, and back.
    HEADROOM_ALWAYS_INLINE void* take(std::size_t pool, std::size_t bytes, std::size_t alignment) {
        detail::free_block* const block = pool_at(pool).before.next;
        if (block == pool_at(pool).last) return carve(pool, block, bytes, alignment);
        pool_at(pool).before.next = detail::next_of(block);
        return handed_out(block, bytes, alignment, pool);
    }
    HEADROOM_ALWAYS_INLINE void take_back(std::size_t pool, void* block, std::size_t bytes) {
        // Now and then what came back is put in order. (Options may exclude some of these pools: they never have room.)
        if (HEADROOM_UNLIKELY(--pool_at(pool).room < 0)) return take_back_and_settle(pool, block, bytes);
        pool_at(pool).add(block);
        taken_back(block, pool);
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
        const std::size_t skipped = aligning(size) + detail::gap_before(size);
        if (HEADROOM_UNLIKELY(first == nullptr ||
                              detail::address_of(chain_.cursor) + skipped + size > detail::address_of(chain_.limit))) {
            return carve_far(pool, bytes, alignment);
        }
        return cut(pool, skipped, bytes, alignment);
    }
    // From the cursor, a multiple of block_step, to where a block of that size may begin.
    HEADROOM_ALWAYS_INLINE std::size_t aligning(std::size_t size) const noexcept {
        return detail::address_of(chain_.cursor) & ~size & detail::block_step;
    }
    HEADROOM_ALWAYS_INLINE void* cut(std::size_t pool, std::size_t skipped, std::size_t bytes, std::size_t alignment) {
        std::byte* const place = chain_.cursor + skipped;
        chain_.cursor = place + size_of(pool);
        ++pool_at(pool).single;
        return fresh(place, bytes, alignment);
    }
    [[gnu::noinline]] void* carve_far(std::size_t pool, std::size_t bytes, std::size_t alignment) {
        detail::bin& mine = pool_at(pool);
        if (mine.last == nullptr) {    // used for the first time
            if (size_of(pool) > largest_) return allocate_large(bytes, alignment);
            (void)enter(index_of(pool));
            return carve(pool, mine.before.next, bytes, alignment);
        }
        if (has_slabs(index_of(pool)) && slabs_->refill(mine, index_of(pool))) {
            return handed_out(mine.take(), bytes, alignment, pool);
        }
        return carve_farther(pool, bytes, alignment);
    }
    // Whether blocks of that size are cut from slabs: else, also after rewind(), chunks are cut singly, as far as there are some.
    [[nodiscard]] bool has_slabs(std::size_t index) const noexcept { return slabs_ != nullptr && slabs_->has_slabs(index); }
    void* carve_farther(std::size_t pool, std::size_t bytes, std::size_t alignment);
    // Adds an area and opens a slab of bin `index` in it, or adds a chunk with room for one block. False if it is a chunk. Throws
    // upstream's exception.
    bool more_memory(std::size_t index);
    HEADROOM_ALWAYS_INLINE static std::size_t index_of(std::size_t pool) noexcept { return pool / sizeof(detail::bin); }

    // How many bytes a chunk may have that is taken for blocks of that size.
    [[nodiscard]] std::size_t most_of(std::size_t size) const noexcept {
        const std::uint64_t most = std::uint64_t{most_blocks_} * size;
        return static_cast<std::size_t>((std::min<std::uint64_t>)(most, detail::chunk_chain::largest_chunk));
    }

    // The pool, ready for use. (It stays so over rewind and release, for the fast paths' sake.)
    detail::bin& enter(std::size_t index) noexcept {
        entered_[index / 64] |= std::uint64_t{1} << index % 64;
        if (pools_[index].last == nullptr) {
            pools_[index].clear();
            pools_[index].room = room_of(index);
        }
        return pools_[index];
    }
    // Calls visit(index, pool) for each that was ever used.
    template <class Visit>
    void each_entered(Visit visit) noexcept {
        for (std::size_t word = 0; word < entered_.size(); ++word) {
            for (std::uint64_t left = entered_[word]; left != 0; left &= left - 1) {
                const std::size_t index = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
                visit(index, pools_[index]);
            }
        }
    }
    [[nodiscard]] std::int32_t room_of(std::size_t index) const noexcept {
        return slabs_ == nullptr || index >= detail::short_bins ? room_without_slabs : room_between;
    }

    // Pages that were never used, with what is free before them; none: there are no more without another area.
    [[nodiscard]] detail::page_runs::run fresh_run(std::size_t pages, detail::arrival how) noexcept {
        return slabs_->runs().extend(
            pages, [&](detail::piece& memory, std::size_t bytes) noexcept { return chain_.provide(memory, bytes, how); });
    }
    // (Of large blocks the end is often not reached, as a buffer has room for more than it holds; and of a size's first slab little may be
    // used.)
    [[nodiscard]] detail::arrival arrival_of_slab(std::size_t index) const noexcept {
        const bool all = index < detail::fine_bins || (index < detail::short_bins && has_slabs(index));
        return all ? detail::arrival::at_once : detail::arrival::at_first_touch;
    }
    bool next_slab(std::size_t index) noexcept {
        const detail::page_runs::run found = fresh_run(detail::slab_pages(index), arrival_of_slab(index));
        if (!found) return false;
        slabs_->open(found, index);
        return slabs_->refill(pools_[index], index);
    }
    // Another area. False where memory for what is known of its pages is refused: then this is a chunk that is cut singly.
    bool add_area(const detail::piece& memory) noexcept;
    // The same of so many bytes at least, to be had first. False also where those are refused.
    bool add_area_or_not(std::size_t least) noexcept;

    // What the fast path leaves out: the pool is excluded by the options, or enough has come back to be put in order.
    void take_back_and_settle(std::size_t pool, void* block, std::size_t bytes);
    // Pages of the blocks above 4 KiB that came back since they were last put in order.
    [[nodiscard]] std::size_t long_back() const noexcept;
    // What came back is put in order; where all is to be, also what was only just cut or taken from slabs, so that what can be empty
    // is. O(free blocks).
    void settle(bool all) noexcept;
    // Whether `take` finds something among what is free, or `fresh_pages` among pages that were never used; before that and at last what
    // came back is put in order. Precondition: there are slabs.
    template <class Take, class Fresh>
    bool find(Take take, Fresh fresh_pages) noexcept;

    void forget_slabs() noexcept {
        if (slabs_ == nullptr) return;
        slabs_->~slab_space();
        upstream_resource()->deallocate(slabs_, sizeof(detail::slab_space), alignof(detail::slab_space));
        slabs_ = nullptr;
    }

    // What the fast paths leave out: more than 4 KiB, no bytes, or more alignment.
    [[gnu::noinline]] void* allocate_rare(std::size_t bytes, std::size_t alignment) {
        // (has_single_bit may be a call.)
        if (bytes - 1 < detail::largest_pooled && alignment - 1 < detail::fine_alignment && (alignment & (alignment - 1)) == 0) {
            if (is_apart(bytes)) return allocate_run(bytes, alignment);
            return take(long_pool(bytes), bytes, alignment);
        }
        return allocate_slowly(bytes, alignment);
    }
    [[gnu::noinline]] void deallocate_rare(void* block, std::size_t bytes, std::size_t alignment) {
        if (bytes - 1 < detail::largest_pooled && alignment <= detail::fine_alignment) {
            if (is_apart(bytes)) return deallocate_apart(block, bytes, alignment);
            return take_back(long_pool(bytes), block, bytes);
        }
        deallocate_slowly(block, bytes, alignment);
    }
    static std::size_t long_pool(std::size_t bytes) noexcept { return detail::long_index(bytes) * sizeof(detail::bin); }
    // No bytes are a block of a common size.
    static std::size_t pool_of_none(std::size_t alignment) noexcept { return detail::bin_index(alignment) * sizeof(detail::bin); }

    [[gnu::noinline]] void* allocate_slowly(std::size_t bytes, std::size_t alignment) {
        if (alignment == 0 || (alignment & (alignment - 1)) != 0) detail::refuse(upstream_resource());
        if (bytes == 0 && alignment <= detail::fine_alignment) return take(pool_of_none(alignment), bytes, alignment);
        if (!by_pages(bytes, alignment)) return allocate_large(bytes, alignment);
        bytes += bytes == 0;
        if (const std::size_t index = aligned_index(bytes, alignment); index < detail::bins) {
            return allocate_aligned(index, bytes, alignment);
        }
        return allocate_run(bytes, alignment);
    }
    [[gnu::noinline]] void deallocate_slowly(void* block, std::size_t bytes, std::size_t alignment) {
        if (bytes == 0 && alignment <= detail::fine_alignment) return take_back(pool_of_none(alignment), block, bytes);
        if (!by_pages(bytes, alignment)) {
            return may_take_free_pages(bytes, alignment) ? deallocate_apart(block, bytes, alignment)
                                                         : deallocate_large(block, bytes);
        }
        bytes += bytes == 0;
        detail::area* const of = slabs_ == nullptr ? nullptr : slabs_->runs().find(block);
        if (of == nullptr) return deallocate_large(block, bytes);
        if (const std::size_t index = aligned_index(bytes, alignment); index < detail::bins) {
            return take_back(index * sizeof(detail::bin), block, bytes);
        }
        give_back_run(*of, block, bytes, alignment);
    }
    void give_back_run(detail::area& of, void* block, std::size_t bytes, std::size_t alignment) noexcept {
        detail::poison(block, bytes);
        slabs_->runs().give_back({&of, of.index_of(block)}, pages_for(bytes, alignment));
    }
    // Deallocates a block of no pool: a page run if it lies in an area, otherwise upstream's.
    void deallocate_apart(void* block, std::size_t bytes, std::size_t alignment) {
        detail::area* const of = slabs_ == nullptr ? nullptr : slabs_->runs().find(block);
        if (of == nullptr) return deallocate_large(block, bytes);
        give_back_run(*of, block, bytes, alignment);
    }
    void* allocate_large(std::size_t bytes, std::size_t alignment) {
#if defined(__cpp_exceptions)
        try {
#endif
            return fresh(large_.allocate(bytes, alignment, upstream_resource(), chain_.reserves()), bytes, alignment);
#if defined(__cpp_exceptions)
        } catch (const std::bad_alloc&) {
            if (void* const block = allocate_reclaimed(bytes, alignment)) return block;
            throw;
        }
#endif
    }
    // Slow path of allocate_large() after a refusal: asks upstream again if reclaim() returned something to it, else takes a free page run.
    // Null if there is neither. Throws upstream's exception if it refuses again.
    void* allocate_reclaimed(std::size_t bytes, std::size_t alignment);
    // Returns cached and empty memory to upstream, after upstream refused memory for a block of `bytes`, and makes chunks without a block
    // in use usable again. False if there was none. O(free blocks).
    bool reclaim(std::size_t bytes) noexcept;
    // The part of it for chunks. False if no chunk is empty.
    bool release_empty_chunks(std::size_t bytes) noexcept;
    static bool chunk_is_empty(const detail::chunk& each) noexcept { return each.blocks != 0 && each.blocks == each.free; }
    // True if upstream reuses memory that is returned to it; a monotonic resource does not. Tried once: returns an empty chunk or area of
    // at least `bytes`, which upstream has just refused, and allocates it again. False while there is none to try.
    bool takes_back(std::size_t bytes) noexcept;
    // Records how many blocks were cut from the active chunk. Must run before another chunk becomes active. O(pools).
    void count_cut() noexcept;
    [[nodiscard]] bool chain_has_room(std::size_t bytes, std::size_t alignment) noexcept {
        if (chain_.fits(bytes, alignment)) return true;
        count_cut();
        return chain_.has_room(bytes, alignment);
    }
    // Calls visit(queue, single) for each pool: its free blocks outside of slabs, and the number of its blocks outside of slabs.
    template <class Visit>
    void each_loose(Visit visit) noexcept;
    void deallocate_large(void* block, std::size_t bytes) { large_.deallocate(block, bytes, upstream_resource(), keeping); }

    // Whether that belongs into a slab or pages of its own: more alignment than the queues' blocks have, or more bytes where chunks are
    // reservations. (What the options exclude does not.)
    [[nodiscard]] bool by_pages(std::size_t bytes, std::size_t alignment) const noexcept {
        if (!keeping || alignment > most_aligned) return false;
        if (bytes <= largest_)
            return alignment > detail::fine_alignment && detail::round_to(bytes + (bytes == 0), alignment) <= largest_;
        return bytes <= largest_run && largest_ == detail::largest_pooled && chain_.reserves();
    }
    // True if a block above the largest bin may lie in a free page run.
    [[nodiscard]] static bool may_take_free_pages(std::size_t bytes, std::size_t alignment) noexcept {
        return keeping && bytes > detail::largest_pooled && alignment <= most_aligned;
    }
    // True for blocks that bypass the bins over a named upstream and take page runs: upstream may be bounded, and bins round up.
    [[nodiscard]] bool is_apart(std::size_t bytes) const noexcept {
        return bytes > detail::largest_of_shared_slabs && bytes <= largest_ && keeping && !chain_.reserves();
    }
    // The bin whose slabs' blocks are aligned so; `bins`: there is none, it takes pages.
    [[nodiscard]] std::size_t aligned_index(std::size_t bytes, std::size_t alignment) const noexcept {
        const std::size_t size = detail::round_to(bytes, alignment);
        if (bytes > detail::largest_short || size > detail::largest_short) return detail::bins;
        for (std::size_t index = detail::bin_index(size); index < detail::short_bins; ++index) {
            const std::size_t found = detail::bin_bytes(index);
            if (found > largest_) break;
            if (found % alignment == 0 && (alignment <= 64 || detail::gap_before(found) == 0)) return index;
        }
        return detail::bins;
    }
    // Blocks of more alignment come from slabs, as those of the first chunks are not aligned so; or from upstream, where there is no
    // memory for slabs.
    void* allocate_aligned(std::size_t index, std::size_t bytes, std::size_t alignment);

    // Pages for a wide block. Those of whole pages get one more: else all would begin in one set of the processor's cache.
    [[nodiscard]] std::size_t pages_for(std::size_t bytes, std::size_t alignment) const noexcept {
        const bool one_more = alignment <= 64 && chain_.reserves();
        return bytes / detail::pool_page + std::size_t{bytes % detail::pool_page != 0 || one_more};
    }
    // Where in its pages it begins: in lines of the cache that differ from run to run, as far as there is room.
    [[nodiscard]] std::byte* place_in(const detail::page_runs::run& pages, std::size_t bytes,
                                      std::size_t alignment) const noexcept {
        const std::size_t unused = pages_for(bytes, alignment) * detail::pool_page - bytes;
        if (alignment > 64 || unused < 64) return pages.place();
        return pages.place() + (pages.index * 64 & (std::bit_floor((std::min)(unused, detail::pool_page)) - 1));
    }
    void* allocate_run(std::size_t bytes, std::size_t alignment) {
        const std::size_t count = pages_for(bytes, alignment);
        detail::page_runs::run found{};
        if (slabs_ != nullptr) found = slabs_->runs().take(count);
        if (HEADROOM_UNLIKELY(!found)) {
            found = more_pages(count);
            if (!found) return allocate_large(bytes, alignment);
        }
        detail::page_runs::mark_used(found, count);
        return fresh(place_in(found, bytes, alignment), bytes, alignment);
    }
    // So many pages, where no free run is long enough; none where memory is refused: upstream may still have as much as a block needs.
    detail::page_runs::run more_pages(std::size_t count) noexcept;

    void forget() noexcept {
        checks_.forgotten();
        each_entered([this](std::size_t index, detail::bin& each) {
            each.clear();
            each.single = 0;
            each.room = room_of(index);
        });
        counted_ = 0;
        chain_.forget_blocks();
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
        if (HEADROOM_UNLIKELY(last >= detail::largest_short || alignment > detail::fine_alignment)) {
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
    std::size_t largest_;    // bytes
    std::size_t most_blocks_;
    std::array<std::uint64_t, 2> entered_{};    // the pools that were ever used, a bit each
    detail::slab_space* slabs_ = nullptr;       // null until a chunk is large enough
    std::size_t counted_ = 0;                   // blocks cut from chunks, as of count_cut()
    enum class answer : std::uint8_t { unknown, no, yes } takes_back_ = answer::unknown;
    detail::large_blocks large_;
    [[no_unique_address]] detail::memory_checks checks_{"multipool_resource"};
    std::array<detail::bin, detail::bins> pools_{};
};

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
