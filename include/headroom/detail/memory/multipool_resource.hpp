// SPDX-License-Identifier: MIT
// The multipool for one thread; see multipool.hpp. Its slow paths are in multipool_slow_paths.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>    // min

#include <headroom/detail/attempt.hpp>
#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/checks.hpp>
#include <headroom/detail/memory/chunks.hpp>
#include <headroom/detail/memory/free_spans.hpp>
#include <headroom/detail/memory/large.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/multipool_statistics.hpp>

namespace headroom { inline namespace v0_1 {

namespace detail {
inline namespace HEADROOM_MEMORY_ABI {

class page_run;
class slab_pool;

}}    // namespace detail

inline namespace HEADROOM_MEMORY_ABI {

class multipool_resource final : public std::pmr::memory_resource {
public:
    // Chunks come from the default resource, larger ones from reservations if that is new_delete_resource(). Allocates nothing.
    multipool_resource() noexcept : multipool_resource(std::pmr::pool_options{}) {}

    // Chunks come from `upstream`, which must outlive the resource. Allocates nothing. Never throws.
    explicit multipool_resource(std::pmr::memory_resource* upstream) noexcept
        : multipool_resource(std::pmr::pool_options{}, upstream) {}

    // Options like std::pmr's. `largest_required_pool_block` is rounded up to a size class, at most 64 KiB; `max_blocks_per_chunk` is the
    // most blocks, of the size that ran out, that a chunk from upstream gets room for. Allocates nothing. Never throws.
    explicit multipool_resource(const std::pmr::pool_options& options) noexcept
        : multipool_resource(options, std::pmr::get_default_resource(), true) {}
    multipool_resource(const std::pmr::pool_options& options, std::pmr::memory_resource* upstream) noexcept
        : multipool_resource(options, upstream, false) {}

    multipool_resource(const multipool_resource&) = delete;
    multipool_resource& operator=(const multipool_resource&) = delete;

    // Releases all memory. Invalidates: every block.
    ~multipool_resource() override { release_segments(); }

    // Returns `bytes` at a multiple of `alignment` (a power of two). Amortized O(1), except for new memory. Throws what upstream throws
    // when it refuses, bad_alloc for sizes that no memory has; nothing has changed then. Invalidates: nothing.
    [[nodiscard]] HEADROOM_RETURNS_NONNULL HEADROOM_ALWAYS_INLINE void* allocate(
        std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        [[maybe_unused]] const auto remembering = checks_.expect_block();
        const std::size_t last = detail::size_minus_one(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= detail::max_short_bytes || alignment > detail::fine_alignment)) {
            return allocate_medium(bytes, alignment);
        }
        return pop_block(detail::short_bin_of(last), bytes, alignment);
    }

    // Frees a block for reuse by its size class, or another one. Amortized O(1). A block above the largest pool goes to upstream. Where
    // chunks are reservations, a block below 1 MiB stays in the pool, and a larger one is kept for one of similar size, up to 8 blocks and
    // 8 MiB; none in checked builds. Precondition: `block`, in use, is from allocate(bytes, alignment), as checked builds verify.
    // Invalidates: it.
    HEADROOM_ALWAYS_INLINE void deallocate(void* block, std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        checks_.on_deallocate(this, block, bytes, alignment);
        const std::size_t last = detail::size_minus_one(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= detail::max_short_bytes || alignment > detail::fine_alignment)) {
            return deallocate_medium(block, bytes, alignment);
        }
        push_block(detail::short_bin_of(last), block, bytes);
    }

    // Returns every chunk and every large block to upstream. O(chunks + large blocks). Invalidates: every block.
    HEADROOM_MEMORY_API void release() noexcept;

    // Frees all blocks; keeps chunks, and large blocks for one round. O(bins used + chunks + large blocks). Invalidates: every block.
    HEADROOM_MEMORY_API void rewind() noexcept;

    // Gives unused memory back: free pages of reservations to the system, segments without a page in use to upstream, kept large blocks.
    // Returns the bytes of the pages; a free run of a reservation counts whole, if any of it was used since it was last returned. O(pages
    // + free blocks). Invalidates: nothing. Precondition: the caller is not an upstream or a new_handler that this resource called.
    HEADROOM_MEMORY_API std::size_t trim() noexcept;

    // Returns the blocks of pools in use, in all and by size class, and the free blocks and pages. O(pages + free blocks).
    HEADROOM_MEMORY_API [[nodiscard]] multipool_statistics statistics() const noexcept;

    // Returns the upstream resource: the named one, or the default resource at the time of construction.
    [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return chain_.upstream(); }

    // Returns the options in effect: defaults filled in, the block size rounded up to a size class.
    [[nodiscard]] std::pmr::pool_options options() const noexcept { return {max_blocks_, max_block_bytes_}; }

private:
    friend class synchronized_multipool_resource;

    static constexpr std::size_t max_pooled_alignment = detail::pool_page_bytes;    // largest alignment that is pooled
    static constexpr std::size_t max_blocks_limit = std::size_t{1} << 19;
    // Smallest piece that is split into pages; blocks are carved directly from smaller ones. The second limit, if the options allow it:
    // each size takes a slab of its own, and a small program has many sizes.
    static constexpr std::size_t min_segment_bytes = std::size_t{64} << 10;
    static constexpr std::size_t min_first_segment_bytes = std::size_t{128} << 10;
    static constexpr std::size_t max_run_block_bytes = (std::size_t{1} << 20) - 1;    // largest block in pages of a reservation
    // Frees after which a queue's blocks are returned to their slabs; while many blocks are freed and none is allocated; and from which on
    // a queue of a bin with few slabs is emptied together with others, by return_blocks_to_slabs().
    static constexpr std::int32_t frees_between_flushes = 128;
    static constexpr std::int32_t frees_between_flushes_busy = 16;
    static constexpr std::int32_t frees_when_few_slabs = 32;
    static constexpr std::int32_t frees_without_slabs = INT32_MAX;    // and for blocks above 4 KiB
    // True if freed blocks without a queue are kept. Not in checked builds: most of each becomes inaccessible, so that late writes fault.
    static constexpr bool keeps_unpooled = !detail::memory_checked;

    // `defaulted`: the program named no upstream, so larger chunks come from reservations if it is new_delete_resource().
    multipool_resource(const std::pmr::pool_options& options, std::pmr::memory_resource* upstream, bool defaulted) noexcept
        : chain_(upstream, defaulted && detail::is_new_delete(upstream)),
          max_block_bytes_(
              options.largest_required_pool_block == 0
                  ? detail::max_pooled_bytes
                  : detail::bin_bytes(detail::bin_of((std::min)(options.largest_required_pool_block, detail::max_pooled_bytes)))),
          max_blocks_(options.max_blocks_per_chunk == 0 ? max_blocks_limit
                                                        : (std::min)(options.max_blocks_per_chunk, max_blocks_limit)) {}

    // Fast path of allocate(): returns a free block of the bin; carves one if it has one or none. Throws upstream's exception.
    HEADROOM_ALWAYS_INLINE void* pop_block(detail::bin_offset offset, std::size_t bytes, std::size_t alignment) {
        detail::free_block* const block = bins_[offset].before.next;
        if (block == bins_[offset].last) return carve(offset, block, bytes, alignment);
        bins_[offset].before.next = detail::next_of(block);
        return on_allocate(block, bytes, alignment, offset);
    }
    // Fast path of deallocate(): pushes a block to its bin, or takes the slow path.
    HEADROOM_ALWAYS_INLINE void push_block(detail::bin_offset offset, void* block, std::size_t bytes) {
        // Bins excluded by the options always take the slow path.
        if (HEADROOM_UNLIKELY(--bins_[offset].frees_until_flush < 0)) return push_block_slow(offset, block, bytes);
        bins_[offset].push(block);
        on_deallocate(block, offset);
    }

    // Returns the block, unpoisoned; checked builds verify that it was not written to, and record it.
    HEADROOM_ALWAYS_INLINE void* on_allocate(void* block, std::size_t bytes, std::size_t alignment, detail::bin_offset offset) {
        if constexpr (detail::memory_checked) verify_free_block(block, detail::bin_bytes(offset));
        return on_first_use(block, bytes, alignment);
    }
    // Like on_allocate(), for a block that was never free.
    HEADROOM_ALWAYS_INLINE void* on_first_use(void* block, std::size_t bytes, std::size_t alignment) {
        detail::unpoison(block, bytes);
        checks_.on_allocate(block, bytes, alignment);
        return block;
    }
    // Ends the program if the free block was written to.
    void verify_free_block(void* block, std::size_t size) const noexcept {
        detail::unpoison_for_reading(block, size);
        checks_.verify_fill(this, block, sizeof(detail::free_block), size);
        detail::poison(block, size);
    }
    // Poisons a freed block; checked builds fill it.
    HEADROOM_ALWAYS_INLINE static void on_deallocate(void* block, detail::bin_offset offset) noexcept {
        if constexpr (detail::memory_checked || detail::poisoning) detail::poison_free_block(block, detail::bin_bytes(offset));
    }

    // Carves a block at the cursor; pop_block_slow() if the chunk is full, the cursor must be aligned or, where `first` is null, the bin
    // is inactive.
    HEADROOM_ALWAYS_INLINE void* carve(detail::bin_offset offset, const detail::free_block* first, std::size_t bytes,
                                       std::size_t alignment) {
        const std::size_t size = detail::bin_bytes(offset);
        const std::uintptr_t at = detail::address_of(chain_.cursor);
        if (HEADROOM_UNLIKELY(first == nullptr || (at & ~size & detail::block_step) != 0 ||
                              at + size > detail::address_of(chain_.limit))) {
            return pop_block_slow(offset, bytes, alignment);
        }
        return carve_at_cursor(offset, bytes, alignment);
    }
    // Carves a block at the cursor. Precondition: it is aligned, and the block fits into the chunk.
    HEADROOM_ALWAYS_INLINE void* carve_at_cursor(detail::bin_offset offset, std::size_t bytes, std::size_t alignment) {
        std::byte* const place = chain_.cursor;
        chain_.cursor = place + detail::bin_bytes(offset);
        ++bins_[offset].chunk_blocks;
        return on_first_use(place, bytes, alignment);
    }
    // Carves a block of the bin at `offset`, at the first place aligned for its size; what is before becomes a span. Precondition: it fits.
    void* carve_aligned(detail::bin_offset offset, std::size_t bytes, std::size_t alignment) {
        std::byte* const place = detail::align_up(chain_.cursor, detail::alignment_of(detail::bin_bytes(offset)));
        add_span(std::exchange(chain_.cursor, place), place);
        return carve_at_cursor(offset, bytes, alignment);
    }
    // Slow path of carve(): activates the bin, or refills it from slabs, or gets memory. Returns a block. Throws upstream's exception.
    HEADROOM_MEMORY_API void* pop_block_slow(detail::bin_offset offset, std::size_t bytes, std::size_t alignment);
    // True if the bin has slabs, and its blocks are carved from them. Otherwise they are carved from chunks that have room.
    [[nodiscard]] bool has_slabs(detail::bin_index index) const noexcept;
    // Slow path of pop_block_slow(): a block from a chunk with room, free blocks or pages, or new memory. Throws as upstream.
    void* refill_or_grow(detail::bin_offset offset, std::size_t bytes, std::size_t alignment);
    // Slow path of refill_or_grow(), in the handler of upstream's refusal: refills the bin from memory that join_free_memory() or
    // release_empty() has found, or makes room for a block in a chunk and returns false. Throws upstream's exception.
    bool refill_after_refusal(detail::bin_index index);
    // Adds a segment and refills the bin from it; or makes room for a block in a chunk and returns false. Throws what upstream throws.
    bool add_memory(detail::bin_index index);

    // Returns the largest size of a chunk for blocks of `size`, by the options.
    [[nodiscard]] std::size_t max_chunk_bytes(std::size_t size) const noexcept {
        const std::uint64_t most = std::uint64_t{max_blocks_} * size;
        return static_cast<std::size_t>((std::min<std::uint64_t>)(most, detail::chunk_chain::max_chunk_bytes));
    }

    // Makes the bin active and returns it. It stays active over rewind() and release(), for the fast paths.
    detail::bin& activate(detail::bin_index index) noexcept {
        const auto number = static_cast<std::size_t>(index);
        active_[number / 64] |= std::uint64_t{1} << number % 64;
        if (bins_[index].last == nullptr) {
            bins_[index].clear();
            bins_[index].frees_until_flush = initial_frees_until_flush(index);
            ++slow_frees_;    // because free_stamp() counts from there
        }
        return bins_[index];
    }
    // Calls visit(index, bin) for each bit of `bits` that is set: the bins from number `first` on.
    template <class Visit>
    void for_each_bin(std::uint64_t bits, std::size_t first, Visit visit) noexcept {
        for (; bits != 0; bits &= bits - 1) {
            const detail::bin_index index{first + static_cast<std::size_t>(std::countr_zero(bits))};
            visit(index, bins_[index]);
        }
    }
    // Calls visit(index, bin) for each active bin.
    template <class Visit>
    void for_each_active(Visit visit) noexcept {
        for (std::size_t word = 0; word < active_.size(); ++word) for_each_bin(active_[word], word * 64, visit);
    }
    [[nodiscard]] std::int32_t initial_frees_until_flush(detail::bin_index index) const noexcept {
        return slabs_ == nullptr || index >= detail::first_medium_bin ? frees_without_slabs : frees_between_flushes;
    }

    // Returns pages at the end of the active segment; none if a new segment is needed. See page_runs::take_unused().
    [[nodiscard]] detail::page_run take_unused_run(std::size_t pages, detail::populate how) noexcept;
    // Returns when the pages of a slab are populated: at once for blocks up to 128 bytes, and up to 4 KiB if the bin has slabs already.
    [[nodiscard]] detail::populate populate_for_slab(detail::bin_index index) const noexcept;
    // Opens a slab at the end of the active segment and refills the bin. False if a new segment is needed.
    bool open_unused_slab(detail::bin_index index) noexcept;
    // Splits the piece into pages, as a new segment. If memory for its page tables is refused, makes it a chunk and returns false.
    bool add_segment(const detail::memory_piece& memory) noexcept;
    // Gets a piece of at least `least` bytes, and makes it a segment. False if the piece or its page tables are refused.
    bool try_add_segment(std::size_t least) noexcept;

    // Slow path of push_block(): frees a block of a bin that the options exclude, or whose blocks are due to return to their slabs.
    HEADROOM_MEMORY_API void push_block_slow(detail::bin_offset offset, void* block, std::size_t bytes);
    // Returns the pages of blocks above 4 KiB freed since they were last returned to slabs.
    [[nodiscard]] std::size_t medium_pages_freed() noexcept;
    // Returns the deferred blocks of each bin to their slabs, and those in queues: of all bins if `all`, otherwise of bins above 4 KiB or
    // with many frees. Empty slabs become free pages. O(free blocks). Precondition: slabs_ is not null.
    void return_blocks_to_slabs(bool all) noexcept;
    // Calls take(), take_unused() and, after return_blocks_to_slabs(true), take() again, until one returns true; false if none does. Before
    // that, returns freed blocks to their slabs if there are many. Precondition: slabs_ is not null.
    template <class Take, class TakeUnused>
    bool find_free_or_unused(Take take, TakeUnused take_unused) noexcept;

    // Releases slabs, segments and large blocks to upstream.
    HEADROOM_MEMORY_API void release_segments() noexcept;

    // Allocates what the fast path leaves out: more than 4 KiB, zero bytes, or a larger alignment.
    HEADROOM_MEMORY_API void* allocate_medium(std::size_t bytes, std::size_t alignment);
    HEADROOM_MEMORY_API void deallocate_medium(void* block, std::size_t bytes, std::size_t alignment);
    // Allocates zero bytes (in the bin of `alignment` bytes), and blocks of large alignment or size. Throws upstream's exception, also if
    // alignment is no power of two.
    void* allocate_slow(std::size_t bytes, std::size_t alignment);
    // Slow path of deallocate(): zero bytes, and blocks of large alignment or size.
    void deallocate_slow(void* block, std::size_t bytes, std::size_t alignment);
    // Frees a run block, which begins at this page.
    void free_run_block(const detail::page_run& pages, void* block, std::size_t bytes, std::size_t alignment) noexcept;
    // Returns the page of a segment that has the block; none if it is in a chunk, or a large block.
    [[nodiscard]] detail::page_run find_page(const void* block) const noexcept;
    // Frees a block of no bin: a run block if it lies in a segment, otherwise a large block.
    void deallocate_by_address(void* block, std::size_t bytes, std::size_t alignment);
    // Allocates a block from upstream or a reservation of its own. Throws what upstream throws.
    void* allocate_own_piece(std::size_t bytes, std::size_t alignment);
    // Like allocate_own_piece(); if refused, by allocate_after_reclaim(). Throws what upstream throws.
    void* allocate_large(std::size_t bytes, std::size_t alignment) {
        return detail::catch_bad_alloc([&] { return allocate_own_piece(bytes, alignment); },
                                       [&] { return allocate_after_reclaim(bytes, alignment); });
    }
    // Slow path of allocate_large(), in the handler of upstream's refusal: returns a block in free pages, or of upstream after returning
    // empty pieces to it. Throws upstream's exception if neither has memory.
    void* allocate_after_reclaim(std::size_t bytes, std::size_t alignment);
    // Allocates a run block in free pages; null if no free run is found.
    void* try_allocate_run_block(std::size_t bytes, std::size_t alignment) noexcept;
    // Makes free memory usable for any size after upstream has refused: returns blocks to their slabs, frees pages that slabs have not
    // carved, and joins the free blocks of chunks. Slabs are small from then on. False if there is none, or nothing was freed since the
    // last call. O(free blocks), O(n log n) for those of chunks.
    bool join_free_memory() noexcept;
    // Returns kept large blocks and, if upstream reuses memory, chunks and segments without a block in use to upstream, which has refused
    // `bytes`. False if there were none, or nothing was freed since a call for as few bytes. O(pages). Precondition: join_free_memory()
    // was called.
    bool release_empty(std::size_t bytes) noexcept;
    // Returns a number that changes with each free.
    [[nodiscard]] std::uint64_t free_stamp() const noexcept;
    // Part of join_free_memory(): joins the free blocks of chunks. False if none were freed since the last call, or there are more
    // than 64 chunks. O(n log n).
    bool join_chunk_blocks() noexcept;
    // Makes the free blocks of no slab spans, not joined. False if there are none. Precondition: record_carved() was called.
    bool move_blocks_to_spans() noexcept;
    // True if no block of the chunk is in use. Precondition: join_chunk_blocks() and record_carved() were called since the last free.
    static bool chunk_is_empty(const detail::chunk& each) noexcept { return each.blocks == 0; }
    // True if upstream, which has just refused `bytes`, reuses memory that is returned to it; a monotonic resource does not. Finds out
    // once: takes what upstream has left, returns an empty chunk or segment, and allocates it again. False while fewer than two are empty.
    bool probe_upstream_reuse(std::size_t bytes) noexcept;
    // Returns memory from upstream of the size and alignment of a piece; null if refused.
    std::byte* try_upstream(const detail::memory_piece& like) noexcept;
    // Records how many blocks were carved from the active chunk. Must run before another chunk becomes active. O(bins).
    void record_carved() noexcept;
    // Makes the rest of the active chunk a span if another chunk is active at the end of the scope.
    struct chunk_rest_guard {
        multipool_resource& of;
        std::byte* first = of.chain_.cursor;
        std::byte* last = of.chain_.active_is_unused() ? first : of.chain_.limit;
        ~chunk_rest_guard() {
            if (of.chain_.cursor != first) of.add_span(first, last);
        }
    };
    // Makes a chunk that has room for the block active. False if none has.
    [[nodiscard]] bool make_room_in_chunks(std::size_t bytes, std::size_t alignment) noexcept;
    // Makes the rest of the active chunk a span; not a whole chunk, which counts as empty until join_chunk_blocks().
    void retire_cursor() noexcept;
    // Adds a free part of a chunk to the spans. Does nothing in checked builds, where blocks of different sizes do not share memory.
    void add_span(std::byte* first, const std::byte* last) noexcept {
        if constexpr (!detail::memory_checked) spans_.push(first, last);
    }
    void deallocate_large(void* block, std::size_t bytes) {
        ++slow_frees_;
        large_.deallocate(block, bytes, upstream_resource(), keeps_unpooled);
    }

    // True if slabs or page runs serve the request instead of queues: over-aligned up to a page or, with reservations, above the largest
    // bin and below 1 MiB. False if the options exclude its size, and in checked builds.
    [[nodiscard]] bool uses_page_runs(std::size_t bytes, std::size_t alignment) const noexcept {
        if (!keeps_unpooled || alignment > max_pooled_alignment) return false;
        if (bytes <= max_block_bytes_)
            return alignment > detail::fine_alignment && detail::round_up_to(bytes + (bytes == 0), alignment) <= max_block_bytes_;
        return bytes <= max_run_block_bytes && max_block_bytes_ == detail::max_pooled_bytes && chain_.uses_reservations();
    }
    // True if a block is above the largest bin and allocate_after_reclaim() may have put it into a page run.
    [[nodiscard]] static bool may_use_free_run(std::size_t bytes, std::size_t alignment) noexcept {
        return keeps_unpooled && bytes > detail::max_pooled_bytes && alignment <= max_pooled_alignment;
    }
    // True for blocks from 15 KiB on that take page runs, not bins, because there are no reservations: upstream may be bounded.
    [[nodiscard]] bool bypasses_bins(std::size_t bytes) const noexcept {
        return bytes > detail::max_shared_slab_bytes && bytes <= max_block_bytes_ && keeps_unpooled &&
               !chain_.uses_reservations();
    }
    // Returns the smallest bin up to 4 KiB whose slabs have blocks of this size and alignment; end_bin if there is none.
    [[nodiscard]] detail::bin_index aligned_bin_of(std::size_t bytes, std::size_t alignment) const noexcept;
    // Allocates an over-aligned block from a slab; blocks of the first chunks are not aligned. From upstream, if slabs get no memory.
    void* allocate_aligned(detail::bin_index index, std::size_t bytes, std::size_t alignment);

    // Returns the pages of a block with its own run. In reservations, whole pages get one more, so that not all begin in one cache set.
    [[nodiscard]] std::size_t run_pages(std::size_t bytes, std::size_t alignment) const noexcept {
        const bool one_more = alignment <= 64 && chain_.uses_reservations();
        return bytes / detail::pool_page_bytes + std::size_t{bytes % detail::pool_page_bytes != 0 || one_more};
    }
    // Returns the address of a block in its run. It differs in its cache line from run to run, as far as there is room.
    [[nodiscard]] std::byte* place_in_run(const detail::page_run& pages, std::size_t bytes, std::size_t alignment) const noexcept;
    // Allocates a run block; a large one if pages are refused. Throws upstream's exception.
    void* allocate_run_block(std::size_t bytes, std::size_t alignment);
    // Slow path of page_runs::take_free_run(): returns `count` pages: freed by returning blocks to slabs, unused, or of a new segment. None
    // if refused.
    detail::page_run find_or_add_pages(std::size_t count) noexcept;
    // Makes all bins, slabs and page runs empty, for release() and rewind().
    void forget_blocks() noexcept;

    // Appends `count` blocks of bin `index` to `into`. If memory runs out, appends fewer and throws upstream's exception.
    HEADROOM_MEMORY_API void allocate_batch(detail::bin_index index, detail::bin_queue& into, std::uint32_t count);
    HEADROOM_MEMORY_API void deallocate_batch(detail::bin_index index, detail::free_block* list) noexcept;

    // Virtual allocate(). The slow paths are out of line: inline they would cost the fast path a register.
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        [[maybe_unused]] const auto remembering = checks_.expect_block();
        const std::size_t last = detail::size_minus_one(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= detail::max_short_bytes || alignment > detail::fine_alignment)) {
            return allocate_out_of_line(bytes, alignment);
        }
        const detail::bin_offset offset = detail::short_bin_of(last);
        detail::free_block* const block = bins_[offset].before.next;
        if (HEADROOM_UNLIKELY(block == bins_[offset].last)) return allocate_out_of_line(bytes, alignment);
        bins_[offset].before.next = detail::next_of(block);
        return on_allocate(block, bytes, alignment, offset);
    }
    HEADROOM_MEMORY_API void* allocate_out_of_line(std::size_t bytes, std::size_t alignment);
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override { deallocate(block, bytes, alignment); }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    detail::chunk_chain chain_;
    std::size_t max_block_bytes_;    // bytes
    std::size_t max_blocks_;
    std::array<std::uint64_t, 2> active_{};    // a bit for each bin that was ever used
    detail::slab_pool* slabs_ = nullptr;       // null until there is a segment
    std::size_t carved_ = 0;                   // blocks carved from chunks, as of record_carved()
    enum class answer : std::uint8_t { unknown, no, yes } upstream_reuses_ = answer::unknown;
    detail::large_blocks large_{};
    HEADROOM_NO_UNIQUE_ADDRESS detail::memory_checks checks_{"multipool_resource"};
    detail::bin_array<detail::bin> bins_{};
    detail::free_spans spans_{};    // of chunks
    bool uses_spans_ = false;       // true once free blocks were joined: blocks are carved from spans first
    // Frees of slow paths; and free_stamp() of the last join_free_memory() and release_empty(), and the bytes of the latter.
    std::uint64_t slow_frees_ = 0;
    std::uint64_t joined_stamp_ = 0;
    std::uint64_t released_stamp_ = 0;
    std::size_t released_for_ = 0;
};

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
