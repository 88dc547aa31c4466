#include <headroom/detail/memory/threads.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "memory/resource_links.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit thread_local std::array<thread_place, thread_places> places_of_thread{};

namespace {

// resource_links guards who belongs to whom: the links of all caches, and the places taken.
constinit std::atomic<std::uint32_t> returned{0};    // how often a thread that ends was done with a resource
constinit std::uint64_t last_serial = 0;
constinit std::array<std::uint32_t, thread_places> resources_at{};    // how many resources share a place

// Blocks of sizes that are multiples of 16 are aligned so, the others to 8: as multipool_resource's.
std::size_t alignment_of(std::size_t bytes) noexcept { return std::min<std::size_t>(bytes & -bytes, 16); }

}    // namespace

// A thread's caches. Made with malloc, as a thread's variables may be gone when it ends, and operator new may be on its way
// to us already.
struct thread_leaving {
    thread_cache* caches = nullptr;

    // What was kept goes back to the resources.
    void return_caches();
};

namespace {

constinit thread_local thread_leaving* leaving = nullptr;
// Set when the thread has left: destructors of other thread-local objects may still allocate, and do without a cache.
constinit thread_local bool thread_has_left = false;

void leave(void* mine) {
    if (!thread_variables_gone_at_end()) {
        thread_has_left = true;
        leaving = nullptr;
        places_of_thread = {};
    }
    static_cast<thread_leaving*>(mine)->return_caches();
    std::free(mine);
}

// Null without memory.
thread_leaving* find_or_make_leaving() noexcept {
    if (leaving != nullptr) return leaving;
    void* const memory = std::malloc(sizeof(thread_leaving));
    if (memory == nullptr) return nullptr;
    auto* const made = new (memory) thread_leaving;
    if (!at_thread_end(leave, made)) {
        std::free(memory);
        return nullptr;
    }
    return leaving = made;
}

}    // namespace

void thread_leaving::return_caches() {
    std::unique_lock lock(resource_links);
    while (caches != nullptr) {
        thread_cache& gone = *caches;
        shared_pools& owner = *gone.owner;
        owner.unlink(gone);
        owner.returning_now() += 1;    // from here on it waits for this thread before it forgets its blocks, or goes
        lock.unlock();
        owner.return_all(gone);
        lock.lock();
        owner.returning_now() -= 1;
        returned.fetch_add(1, std::memory_order_relaxed);
        wake_all(returned);
    }
}

shared_pools::shared_pools(std::pmr::memory_resource& core, const core_batches& batches) noexcept
    : core_(core), batches_(batches) {
    const std::lock_guard lock(resource_links);
    serial_ = ++last_serial;
    forks_ = forks_so_far;
    const auto emptiest = std::min_element(resources_at.begin(), resources_at.end());
    ++*emptiest;
    place_ = static_cast<std::size_t>(emptiest - resources_at.begin());
}

shared_pools::~shared_pools() {
    forget();
    const std::lock_guard lock(resource_links);
    --resources_at[place_];
}

void shared_pools::unlink(thread_cache& gone) noexcept {
    (gone.previous_of_owner != nullptr ? gone.previous_of_owner->next_of_owner : caches_) = gone.next_of_owner;
    if (gone.next_of_owner != nullptr) gone.next_of_owner->previous_of_owner = gone.previous_of_owner;
    (gone.previous_of_thread != nullptr ? gone.previous_of_thread->next_of_thread : gone.thread->caches) = gone.next_of_thread;
    if (gone.next_of_thread != nullptr) gone.next_of_thread->previous_of_thread = gone.previous_of_thread;
}

std::uint32_t& shared_pools::returning_now() noexcept {
    // Threads of the parent that were at it do not end in the child.
    if (forks_ != forks_so_far) returning_ = 0;
    forks_ = forks_so_far;
    return returning_;
}

thread_cache* shared_pools::find_or_make_cache() {
    if (thread_cache* const mine = cache()) return mine;
    if (thread_has_left) return nullptr;
    thread_leaving* const thread = find_or_make_leaving();
    if (thread == nullptr) return nullptr;
    thread_cache* found = nullptr;
    {
        const std::lock_guard lock(resource_links);
        found = thread->caches;
        while (found != nullptr && found->owner != this) found = found->next_of_thread;
    }
    if (found == nullptr) {
        // Not under the links' lock: the upstream may be another resource of this kind.
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
    places_of_thread[place_] = {serial_, found};
    return found;
}

namespace {

// The queue becomes a batch, and is empty; and the other way round.
free_block* batch_from(bin_queue& queue) noexcept {
    free_block* const last = queue.last;
    link(last, queue.before.next);
    queue.clear();
    return last;
}
void unpack_batch(bin_queue& queue, free_block* batch) noexcept {
    queue.before.next = next_of(batch);
    queue.last = batch;
}

void prepare_bin(thread_bin& pool, std::size_t bytes) noexcept {
    if (pool.most != 0) return;
    pool.queue.clear();
    pool.most = 2 * batch_of(bytes);
}

}    // namespace

thread_cache* shared_pools::find_or_give_up() noexcept {
#if defined(__cpp_exceptions)
    try {
#endif
        return find_or_make_cache();
#if defined(__cpp_exceptions)
    } catch (...) {
        return nullptr;    // no memory for a cache: blocks go to the core one by one
    }
#endif
}

bool shared_pools::put_batch(std::size_t index, free_block* batch) noexcept {
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

free_block* shared_pools::take_batch(std::size_t index) noexcept {
    depot* const from = depot_.load(std::memory_order_acquire);
    if (from == nullptr) return nullptr;
    for (std::atomic<free_block*>& place : from->batches[index]) {
        if (place.load(std::memory_order_relaxed) == nullptr) continue;
        if (free_block* const batch = place.exchange(nullptr, std::memory_order_acquire)) return batch;
    }
    return nullptr;
}

// Under the lock.
void shared_pools::make_depot() {
    if (depot_.load(std::memory_order_relaxed) != nullptr) return;
#if defined(__cpp_exceptions)
    try {
#endif
        depot_.store(new (core_.allocate(sizeof(depot), alignof(depot))) depot, std::memory_order_release);
#if defined(__cpp_exceptions)
    } catch (...) {
        // No memory for it: batches go to the core.
    }
#endif
}

void* shared_pools::refill(std::size_t index) {
    const std::size_t bytes = bin_bytes(index);
    thread_cache* const mine = find_or_make_cache();
    if (mine != nullptr) {
        thread_bin& pool = mine->pools[index];
        prepare_bin(pool, bytes);
        free_block* batch = std::exchange(mine->spares[index], nullptr);
        if (batch == nullptr) batch = take_batch(index);
        if (batch != nullptr) {
            // The fast path leaves a last block in the queue.
            void* block = pool.queue.take();
            const bool left_one = block != nullptr;
            unpack_batch(pool.queue, batch);
            if (!left_one) block = pool.queue.take();
            pool.count = left_one ? pool.most : pool.most - 1;
            return block;
        }
    }
    const std::lock_guard lock(mutex_);
    if (mine == nullptr) return core_.allocate(bytes, alignment_of(bytes));
    bin_queue fresh;
    fresh.clear();
#if defined(__cpp_exceptions)
    try {
#endif
        // Two more than half a batch: one is what was asked for, and the fast path leaves one behind.
        batches_.take(core_, index, fresh, batch_of(bytes) + 2);
#if defined(__cpp_exceptions)
    } catch (...) {
        // One block is what was asked for; the next refill will learn whether memory is still short.
        if (fresh.empty()) throw;
    }
#endif
    void* const block = fresh.take();
    thread_bin& pool = mine->pools[index];
    pool.count += pool.queue.take_from(fresh, pool.most);
    return block;
}

void shared_pools::return_batch(std::size_t index, free_block* batch) {
    bin_queue queue;
    unpack_batch(queue, batch);
    batches_.give(core_, index, queue);
}

void shared_pools::return_all(thread_cache& gone) {
    const std::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < bins; ++index) {
        batches_.give(core_, index, gone.pools[index].queue);
        if (gone.spares[index] != nullptr) return_batch(index, gone.spares[index]);
    }
    core_.deallocate(&gone, sizeof(thread_cache), alignof(thread_cache));
}

void shared_pools::hand_over(std::size_t index, void* block) {
    const std::size_t bytes = bin_bytes(index);
    if (thread_cache* const mine = find_or_give_up()) {
        thread_bin& pool = mine->pools[index];
        prepare_bin(pool, bytes);
        if (pool.count == pool.most) {
            free_block* const left_over = std::exchange(mine->spares[index], batch_from(pool.queue));
            pool.count = 0;
            if (left_over != nullptr && !put_batch(index, left_over)) {
                const std::lock_guard lock(mutex_);
                make_depot();
                return_batch(index, left_over);
            }
        }
        pool.queue.add(block);
        ++pool.count;
        poison(block, bytes);
        return;
    }
    const std::lock_guard lock(mutex_);
    unpoison(block, bytes);
    core_.deallocate(block, bytes, alignment_of(bytes));
}

void shared_pools::give_back() {
    thread_cache* const mine = cache();
    const std::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < bins; ++index) {
        while (free_block* const batch = take_batch(index)) return_batch(index, batch);
        if (mine == nullptr) continue;
        batches_.give(core_, index, mine->pools[index].queue);
        mine->pools[index].count = 0;
        if (free_block* const spare = std::exchange(mine->spares[index], nullptr)) return_batch(index, spare);
    }
}

void* shared_pools::allocate(std::size_t bytes, std::size_t alignment) {
    const std::lock_guard lock(mutex_);
    return core_.allocate(bytes, alignment);
}

void shared_pools::deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    const std::lock_guard lock(mutex_);
    core_.deallocate(block, bytes, alignment);
}

void shared_pools::forget() noexcept {
    std::unique_lock lock(resource_links);
    while (caches_ != nullptr) unlink(*caches_);
    depot_.store(nullptr, std::memory_order_relaxed);    // its batches are the core's blocks, and so is it
    serial_ = ++last_serial;                             // so that no thread finds the cache that it had
    while (returning_now() != 0) {
        const std::uint32_t seen = returned.load(std::memory_order_relaxed);
        lock.unlock();
        wait_while(returned, seen);
        lock.lock();
    }
}

}}}    // namespace headroom::detail
