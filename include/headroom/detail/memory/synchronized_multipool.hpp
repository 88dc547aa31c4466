// SPDX-License-Identifier: MIT
// A multipool that many threads may use at once.
//
// Choose it where threads share their allocations or pass them to each other. Each thread keeps a few free blocks of each size up to 4 KiB
// (64 of up to 128 bytes, 8 KiB worth or four of larger ones; twice that at most), so most calls take no lock and threads do not slow each
// other down. More free blocks pass in batches to other threads, without a lock; so do blocks that one thread allocates and another frees.
// A thread that ends returns its blocks. Larger blocks take the lock. If each thread has its own data, a multipool_resource for each is
// faster.
//
// Otherwise like multipool_resource: default upstream, options, release(), rewind(), checks. Costs about 2.5 KiB, and 1.5 KiB for each
// thread that uses it. Up to 64 such resources at once are found quickly; more work, but slower.
//
// Document: P0089R0 (section 4 on synchronized multipools; benchmark IV).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <vector>    // min

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/checks.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/multipool_resource.hpp>
#include <headroom/detail/memory/thread_cache.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

class synchronized_multipool_resource final : public std::pmr::memory_resource {
public:
    // Constructors are like multipool_resource's. One thread at a time calls the upstream.
    synchronized_multipool_resource() noexcept : synchronized_multipool_resource(std::pmr::pool_options{}) {}
    // No commit policy: chunks come from the named upstream.
    explicit synchronized_multipool_resource(std::pmr::memory_resource* upstream) noexcept : core_(upstream) {}
    explicit synchronized_multipool_resource(const std::pmr::pool_options& options) noexcept : core_(options) {
        core_.chain_.set_commit_policy(detail::shared_chunk_policy);
    }
    synchronized_multipool_resource(const std::pmr::pool_options& options, std::pmr::memory_resource* upstream) noexcept
        : core_(options, upstream) {}

    synchronized_multipool_resource(const synchronized_multipool_resource&) = delete;
    synchronized_multipool_resource& operator=(const synchronized_multipool_resource&) = delete;

    // Releases all memory. Precondition: no other thread is in a call. Waits for threads that are ending. Invalidates: every block.
    ~synchronized_multipool_resource() override = default;

    // Allocates like multipool_resource. Thread-safe.
    [[nodiscard]] HEADROOM_RETURNS_NONNULL HEADROOM_ALWAYS_INLINE void* allocate(
        std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        [[maybe_unused]] const auto remembering = checks_.expect_block();
        const std::size_t last = detail::size_minus_one(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= max_cached_bytes_ || alignment > detail::fine_alignment)) {
            return record_allocate(shared_.allocate(bytes, alignment), bytes, alignment);
        }
        const detail::bin_offset offset = detail::short_bin_of(last);
        if (detail::thread_cache* const mine = shared_.cache()) {
            detail::thread_bin& local = mine->bins[offset];
            detail::free_block* const block = local.first;
            if (block != nullptr) {
                local.first = detail::next_of(block);
                ++local.capacity_left;
                return on_allocate(block, bytes, alignment);
            }
        }
        return on_allocate(shared_.refill(offset), bytes, alignment);
    }

    // Frees a block like multipool_resource. Thread-safe; the block may come from another thread.
    HEADROOM_ALWAYS_INLINE void deallocate(void* block, std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        checks_.on_deallocate(this, block, bytes, alignment);
        const std::size_t last = detail::size_minus_one(bytes, alignment);
        if (HEADROOM_UNLIKELY(last >= max_cached_bytes_ || alignment > detail::fine_alignment)) {
            return shared_.deallocate(block, bytes, alignment);
        }
        const detail::bin_offset offset = detail::short_bin_of(last);
        if (detail::thread_cache* const mine = shared_.cache()) {
            detail::thread_bin& local = mine->bins[offset];
            if (--local.capacity_left >= 0) {
                detail::link(static_cast<detail::free_block*>(block), local.first);
                local.first = static_cast<detail::free_block*>(block);
                if constexpr (detail::poisoning) detail::poison(block, detail::bin_bytes(offset));
                return;
            }
        }
        shared_.deallocate_slow(offset, block);
    }

    // Like multipool_resource::release(). Precondition: no other thread is in a call, because its blocks would vanish. Waits for threads
    // that are ending and returning their blocks. Invalidates: every block.
    void release() noexcept {
        forget_blocks();
        core_.release();
    }
    // Like multipool_resource::rewind(), with the rules of release().
    void rewind() noexcept {
        forget_blocks();
        core_.rewind();
    }

    // Like multipool_resource::trim(), after returning the calling thread's blocks and the depot's to the pools. Blocks in other threads'
    // caches count as in use. Thread-safe. Precondition: the caller is not an upstream or a new_handler that this resource called.
    std::size_t trim() {
        shared_.flush();
        const std::lock_guard lock(shared_.mutex());
        return core_.trim();
    }
    // Like multipool_resource::statistics(), with the rules of trim(). Leaves out the blocks that hold thread caches and the depot.
    [[nodiscard]] multipool_statistics statistics() {
        shared_.flush();
        const std::lock_guard lock(shared_.mutex());
        multipool_statistics result = core_.statistics();
        const auto leave_out = [&](std::size_t bytes, std::size_t count) {
            if (bytes > options().largest_required_pool_block) return;    // in no pool
            multipool_statistics::size_class& each = result.classes[static_cast<std::size_t>(detail::bin_of(bytes))];
            each.in_use -= count;
            result.blocks -= count;
            result.bytes -= count * each.block_bytes;
        };
        const detail::shared_pools::own_block_count own = shared_.own_block_counts();
        leave_out(sizeof(detail::thread_cache), own.caches);
        leave_out(sizeof(detail::depot), own.depot ? 1 : 0);
        return result;
    }

    [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return core_.upstream_resource(); }
    [[nodiscard]] std::pmr::pool_options options() const noexcept { return core_.options(); }

private:
    // Returns the block, unpoisoned and, in checked builds, recorded.
    HEADROOM_ALWAYS_INLINE void* on_allocate(void* block, std::size_t bytes, std::size_t alignment) {
        detail::unpoison(block, bytes);
        return record_allocate(block, bytes, alignment);
    }
    HEADROOM_ALWAYS_INLINE void* record_allocate(void* block, std::size_t bytes, std::size_t alignment) {
        checks_.on_allocate(block, bytes, alignment);
        return block;
    }

    void forget_blocks() noexcept {
        checks_.on_release();
        shared_.forget_caches();
    }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override { return allocate(bytes, alignment); }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override { deallocate(block, bytes, alignment); }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    static multipool_resource& as_multipool(std::pmr::memory_resource& core) noexcept {
        return static_cast<multipool_resource&>(core);
    }
    static constexpr detail::core_batches batches{
        [](std::pmr::memory_resource& core, detail::bin_index index, detail::bin_queue& into, std::uint32_t count) {
            as_multipool(core).allocate_batch(index, into, count);
        },
        [](std::pmr::memory_resource& core, detail::bin_index index, detail::free_block* list) {
            as_multipool(core).deallocate_batch(index, list);
        }};

    multipool_resource core_;
    std::size_t max_cached_bytes_ = (std::min)(core_.options().largest_required_pool_block, detail::max_short_bytes);
    detail::shared_pools shared_{core_, core_.upstream_resource(), batches};
    HEADROOM_NO_UNIQUE_ADDRESS detail::synchronized_checks checks_{"synchronized_multipool_resource"};
};

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
