// SPDX-License-Identifier: MIT
// Thread caches of synchronized_multipool_resource: implements thread_cache.hpp.
#include <headroom/detail/memory/thread_cache.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include <headroom/detail/attempt.hpp>

#include "memory/resource_links.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit thread_local std::array<thread_entry, thread_entry_count> thread_entries{};
#if defined(HEADROOM_DLL)
thread_entry* own_thread_entries() noexcept { return thread_entries.data(); }
#endif

namespace {

// resource_links guards the links of all caches, and the use of entries.
constinit std::atomic<std::uint32_t> returns_done{
    0};    // incremented when an ending thread has returned its blocks to a resource
constinit std::uint64_t last_serial = 0;
constinit std::array<std::uint32_t, thread_entry_count> resources_per_entry{};    // number of resources that use an entry

}    // namespace

// A thread's caches. Allocated by malloc: thread-local variables may be gone when the thread ends, and operator new may be calling us.
struct thread_exit_record {
    thread_cache* caches = nullptr;

    // Returns the caches, and the blocks in them, to their resources, one by one under the lock of each.
    void return_caches();
};

namespace {

constinit thread_local thread_exit_record* exit_record = nullptr;
// Set when the thread has returned its caches. Destructors of other thread-local objects may still allocate, then without a cache.
constinit thread_local bool thread_has_exited = false;

// Runs when the thread ends: returns the caches of its thread_exit_record `mine`, and frees the record.
void return_caches_at_exit(void* mine) {
    if (!thread_locals_gone_at_end()) {
        thread_has_exited = true;
        exit_record = nullptr;
        thread_entries = {};
    }
    static_cast<thread_exit_record*>(mine)->return_caches();
    std::free(mine);
}

// Returns the thread's record, made at the first call; null if memory for it, or a call at the thread's end, is refused.
thread_exit_record* thread_exit_record_or_null() noexcept {
    if (exit_record != nullptr) return exit_record;
    void* const memory = std::malloc(sizeof(thread_exit_record));
    if (memory == nullptr) return nullptr;
    auto* const made = new (memory) thread_exit_record;
    if (!at_thread_end(return_caches_at_exit, made)) {
        std::free(memory);
        return nullptr;
    }
    return exit_record = made;
}

}    // namespace

void thread_exit_record::return_caches() {
    std::unique_lock lock(resource_links);
    while (caches != nullptr) {
        thread_cache& gone = *caches;
        shared_pools& owner = *gone.owner;
        owner.unlink(gone);
        owner.returning_threads() += 1;    // from here on the resource waits for this thread before it frees its blocks
        lock.unlock();
        owner.return_cache(gone);
        lock.lock();
        owner.returning_threads() -= 1;
        returns_done.fetch_add(1, std::memory_order_relaxed);
        wake_all(returns_done);
    }
}

shared_pools::shared_pools(std::pmr::memory_resource& core, const std::pmr::memory_resource* upstream,
                           const core_batches& batches) noexcept
    : core_(core), batches_(batches), mutex_(upstream) {
    const std::lock_guard lock(resource_links);
    serial_ = ++last_serial;
    forks_ = forks_so_far;
    const auto emptiest = std::min_element(resources_per_entry.begin(), resources_per_entry.end());
    ++*emptiest;
    entry_offset_ = static_cast<std::size_t>(emptiest - resources_per_entry.begin()) * sizeof(thread_entry);
}

shared_pools::~shared_pools() {
    forget_caches();
    const std::lock_guard lock(resource_links);
    --resources_per_entry[entry_offset_ / sizeof(thread_entry)];
}

void shared_pools::unlink(thread_cache& gone) noexcept {
    (gone.previous_of_owner != nullptr ? gone.previous_of_owner->next_of_owner : caches_) = gone.next_of_owner;
    if (gone.next_of_owner != nullptr) gone.next_of_owner->previous_of_owner = gone.previous_of_owner;
    (gone.previous_of_thread != nullptr ? gone.previous_of_thread->next_of_thread : gone.thread->caches) = gone.next_of_thread;
    if (gone.next_of_thread != nullptr) gone.next_of_thread->previous_of_thread = gone.previous_of_thread;
}

std::uint32_t& shared_pools::returning_threads() noexcept {
    // Threads of the parent that were returning blocks are not in the child.
    if (forks_ != forks_so_far) returning_threads_ = 0;
    forks_ = forks_so_far;
    return returning_threads_;
}

thread_cache* shared_pools::find_cache() noexcept {
    if (thread_cache* const mine = cache()) return mine;
    if (thread_has_exited || exit_record == nullptr) return nullptr;
    const std::lock_guard lock(resource_links);
    thread_cache* found = exit_record->caches;
    while (found != nullptr && found->owner != this) found = found->next_of_thread;
    return found;
}

// Returns the calling thread's cache, made at the first call; null if the thread ends or has no record. Throws what the core throws.
thread_cache* shared_pools::find_or_make_cache() {
    if (thread_cache* const mine = cache()) return mine;
    if (thread_has_exited) return nullptr;
    thread_exit_record* const thread = thread_exit_record_or_null();
    if (thread == nullptr) return nullptr;
    thread_cache* found = find_cache();
    if (found == nullptr) {
        // Not under resource_links: the upstream may be a resource of this kind.
        found = new (allocate(sizeof(thread_cache), alignof(thread_cache))) thread_cache;
        const std::lock_guard lock(resource_links);
        found->owner = this;
        found->next_of_owner = caches_;
        if (caches_ != nullptr) caches_->previous_of_owner = found;
        caches_ = found;
        found->thread = thread;
        found->next_of_thread = thread->caches;
        if (thread->caches != nullptr) thread->caches->previous_of_thread = found;
        thread->caches = found;
    }
    thread_entries[entry_offset_ / sizeof(thread_entry)] = {serial_, found};
    return found;
}

namespace {

// Gives the bin its capacity, at its first use.
void prepare_bin(thread_bin& local, std::size_t bytes) noexcept {
    if (local.max_blocks != 0) return;
    local.max_blocks = 2 * blocks_per_refill(bytes);
    local.capacity_left = static_cast<std::int32_t>(local.max_blocks);
}

}    // namespace

thread_cache* shared_pools::try_find_or_make_cache() noexcept {
    // Without memory for a cache blocks go to the core one by one.
    return value_or_on_throw<thread_cache*>(nullptr, [this] { return find_or_make_cache(); });
}

bool shared_pools::push_batch(bin_index index, free_block* batch) noexcept {
    depot* const into = depot_.load(std::memory_order_acquire);
    if (into == nullptr) return false;
    for (std::atomic<free_block*>& place : into->batches[index]) {
        free_block* none = nullptr;
        if (place.load(std::memory_order_relaxed) == nullptr &&
            place.compare_exchange_strong(none, batch, std::memory_order_release, std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

free_block* shared_pools::pop_batch(bin_index index) noexcept {
    depot* const from = depot_.load(std::memory_order_acquire);
    if (from == nullptr) return nullptr;
    for (std::atomic<free_block*>& place : from->batches[index]) {
        if (place.load(std::memory_order_relaxed) == nullptr) continue;
        if (free_block* const batch = place.exchange(nullptr, std::memory_order_acquire)) return batch;
    }
    return nullptr;
}

// Makes the depot, unless it exists or the core refuses its memory. Requires the lock.
void shared_pools::ensure_depot() {
    if (depot_.load(std::memory_order_relaxed) != nullptr) return;
    const auto make = [this] { return new (core_.allocate(sizeof(depot), alignof(depot))) depot; };
    depot_.store(value_or_on_throw<depot*>(nullptr, make), std::memory_order_release);
}

// Calls `operation`; if it throws bad_alloc and flush() returns true, calls it again. Throws what it throws last.
template <class Operation>
void shared_pools::retry_after_flush(Operation operation) {
    catch_bad_alloc(operation, [&] {
        if (!flush()) rethrow();
        operation();
    });
}

void* shared_pools::refill(bin_offset offset) {
    const bin_index index = index_of(offset);
    const std::size_t bytes = bin_bytes(index);
    thread_cache* const mine = try_find_or_make_cache();
    if (mine == nullptr) return allocate(bytes, alignment_of(bytes));
    thread_bin& local = mine->bins[index];
    prepare_bin(local, bytes);
    // A cache found again, after another resource had its entry, may have blocks.
    free_block* block = local.first;
    if (block != nullptr) {
        ++local.capacity_left;
    } else if ((block = std::exchange(local.spare_batch, nullptr)) != nullptr || (block = pop_batch(index)) != nullptr) {
        local.capacity_left = 1;
    } else {
        return refill_from_core(index, local);
    }
    local.first = next_of(block);
    return block;
}

free_block* shared_pools::refill_from_core(bin_index index, thread_bin& local) {
    bin_queue fresh;
    fresh.clear();
    std::uint32_t count = blocks_per_refill(bin_bytes(index)) + 1;    // half the capacity, and the one to return
    retry_after_flush([&] {
        const std::lock_guard lock(mutex_);
        catch_all([&] { batches_.allocate(core_, index, fresh, count); },
                  [&] {
                      // One block is enough; the next refill will find out whether memory is still short.
                      if (fresh.empty()) rethrow();
                      count = static_cast<std::uint32_t>(fresh.count());
                  });
    });
    link(fresh.last, nullptr);
    local.first = next_of(fresh.before.next);
    local.capacity_left = static_cast<std::int32_t>(local.max_blocks - (count - 1));
    return fresh.before.next;
}

bool shared_pools::flush_bin(bin_index index, thread_bin& local) {
    if (local.first == nullptr && local.spare_batch == nullptr) return false;
    batches_.deallocate(core_, index, std::exchange(local.first, nullptr));
    batches_.deallocate(core_, index, std::exchange(local.spare_batch, nullptr));
    local.capacity_left = static_cast<std::int32_t>(local.max_blocks);
    return true;
}

void shared_pools::return_cache(thread_cache& gone) {
    const std::lock_guard lock(mutex_);
    for (bin_index index{}; index < first_medium_bin; ++index) flush_bin(index, gone.bins[index]);
    core_.deallocate(&gone, sizeof(thread_cache), alignof(thread_cache));
}

void shared_pools::deallocate_slow(bin_offset offset, void* block) {
    const bin_index index = index_of(offset);
    const std::size_t bytes = bin_bytes(index);
    if (thread_cache* const mine = try_find_or_make_cache()) {
        thread_bin& local = mine->bins[index];
        if (local.capacity_left < 0) local.capacity_left = 0;    // set below zero by the fast path
        prepare_bin(local, bytes);
        if (local.capacity_left == 0) {
            free_block* const left_over = std::exchange(local.spare_batch, std::exchange(local.first, nullptr));
            local.capacity_left = static_cast<std::int32_t>(local.max_blocks);
            if (left_over != nullptr && !push_batch(index, left_over)) {
                const std::lock_guard lock(mutex_);
                ensure_depot();
                batches_.deallocate(core_, index, left_over);
            }
        }
        link(static_cast<free_block*>(block), local.first);
        local.first = static_cast<free_block*>(block);
        --local.capacity_left;
        poison(block, bytes);
        return;
    }
    const std::lock_guard lock(mutex_);
    unpoison(block, bytes);
    core_.deallocate(block, bytes, alignment_of(bytes));
}

bool shared_pools::flush() {
    thread_cache* const mine = find_cache();
    bool any = false;
    const std::lock_guard lock(mutex_);
    for (bin_index index{}; index < first_medium_bin; ++index) {
        while (free_block* const batch = pop_batch(index)) {
            batches_.deallocate(core_, index, batch);
            any = true;
        }
        if (mine != nullptr && flush_bin(index, mine->bins[index])) any = true;
    }
    return any;
}

void* shared_pools::allocate(std::size_t bytes, std::size_t alignment) {
    void* block = nullptr;
    retry_after_flush([&] {
        const std::lock_guard lock(mutex_);
        block = core_.allocate(bytes, alignment);
    });
    return block;
}

void shared_pools::deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    const std::lock_guard lock(mutex_);
    core_.deallocate(block, bytes, alignment);
}

shared_pools::own_block_count shared_pools::own_block_counts() const noexcept {
    const std::lock_guard lock(resource_links);
    own_block_count result{0, depot_.load(std::memory_order_relaxed) != nullptr};
    for (const thread_cache* each = caches_; each != nullptr; each = each->next_of_owner) ++result.caches;
    return result;
}

void shared_pools::forget_caches() noexcept {
    std::unique_lock lock(resource_links);
    while (caches_ != nullptr) unlink(*caches_);
    depot_.store(nullptr, std::memory_order_relaxed);    // a block of the core, like its batches
    serial_ = ++last_serial;                             // invalidates all threads' entries
    while (returning_threads() != 0) {
        const std::uint32_t seen = returns_done.load(std::memory_order_relaxed);
        lock.unlock();
        wait_while(returns_done, seen);
        lock.lock();
    }
}

}}}    // namespace headroom::detail
