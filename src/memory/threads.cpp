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

shared_pools::shared_pools(std::pmr::memory_resource& core, const std::pmr::memory_resource* upstream,
                           const core_batches& batches) noexcept
    : core_(core), batches_(batches), mutex_(upstream) {
    const std::lock_guard lock(resource_links);
    serial_ = ++last_serial;
    forks_ = forks_so_far;
    const auto emptiest = std::min_element(resources_at.begin(), resources_at.end());
    ++*emptiest;
    place_ = static_cast<std::size_t>(emptiest - resources_at.begin()) * sizeof(thread_place);
}

shared_pools::~shared_pools() {
    forget();
    const std::lock_guard lock(resource_links);
    --resources_at[place_ / sizeof(thread_place)];
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

thread_cache* shared_pools::find_cache() noexcept {
    if (thread_cache* const mine = cache()) return mine;
    if (thread_has_left || leaving == nullptr) return nullptr;
    const std::lock_guard lock(resource_links);
    thread_cache* found = leaving->caches;
    while (found != nullptr && found->owner != this) found = found->next_of_thread;
    return found;
}

thread_cache* shared_pools::find_or_make_cache() {
    if (thread_cache* const mine = cache()) return mine;
    if (thread_has_left) return nullptr;
    thread_leaving* const thread = find_or_make_leaving();
    if (thread == nullptr) return nullptr;
    thread_cache* found = find_cache();
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
    places_of_thread[place_ / sizeof(thread_place)] = {serial_, found};
    return found;
}

namespace {

void prepare_bin(thread_bin& pool, std::size_t bytes) noexcept {
    if (pool.most != 0) return;
    pool.most = 2 * batch_of(bytes);
    pool.room = static_cast<std::int32_t>(pool.most);
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

// Calls `operation`; if it throws bad_alloc, returns this thread's and the depot's blocks to the core and calls it again.
template <class Operation>
void shared_pools::retry_once(Operation operation) {
#if defined(__cpp_exceptions)
    try {
#endif
        operation();
#if defined(__cpp_exceptions)
    } catch (const std::bad_alloc&) {
        give_back();
        operation();
    }
#endif
}

void* shared_pools::refill(std::size_t at) {
    const std::size_t index = at / sizeof(thread_bin);
    const std::size_t bytes = bin_bytes(index);
    thread_cache* const mine = find_or_give_up();
    if (mine != nullptr) {
        thread_bin& pool = mine->pools[index];
        prepare_bin(pool, bytes);
        // (A cache that was just found again may have blocks: another resource had taken its place.)
        free_block* block = pool.first;
        if (block != nullptr) {
            ++pool.room;
        } else if ((block = std::exchange(pool.spare, nullptr)) != nullptr || (block = take_batch(index)) != nullptr) {
            pool.room = 1;
        }
        if (block != nullptr) {
            pool.first = next_of(block);
            return block;
        }
    }
    if (mine == nullptr) return allocate(bytes, alignment_of(bytes));
    bin_queue fresh;
    fresh.clear();
    std::uint32_t count = batch_of(bytes) + 1;    // half a batch, and what was asked for
    retry_once([&] {
        const std::lock_guard lock(mutex_);
#if defined(__cpp_exceptions)
        try {
#endif
            batches_.take(core_, index, fresh, count);
#if defined(__cpp_exceptions)
        } catch (...) {
            // One block is what was asked for; the next refill will learn whether memory is still short.
            if (fresh.empty()) throw;
            count = static_cast<std::uint32_t>(fresh.count());
        }
#endif
    });
    link(fresh.last, nullptr);
    thread_bin& pool = mine->pools[index];
    pool.first = next_of(fresh.before.next);
    pool.room = static_cast<std::int32_t>(pool.most - (count - 1));
    return fresh.before.next;
}

void shared_pools::return_bin(std::size_t index, thread_bin& pool) {
    batches_.give(core_, index, std::exchange(pool.first, nullptr));
    batches_.give(core_, index, std::exchange(pool.spare, nullptr));
    pool.room = static_cast<std::int32_t>(pool.most);
}

void shared_pools::return_all(thread_cache& gone) {
    const std::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < short_bins; ++index) return_bin(index, gone.pools[index]);
    core_.deallocate(&gone, sizeof(thread_cache), alignof(thread_cache));
}

void shared_pools::hand_over(std::size_t at, void* block) {
    const std::size_t index = at / sizeof(thread_bin);
    const std::size_t bytes = bin_bytes(index);
    if (thread_cache* const mine = find_or_give_up()) {
        thread_bin& pool = mine->pools[index];
        if (pool.room < 0) pool.room = 0;    // the fast path saw that there is none
        prepare_bin(pool, bytes);
        if (pool.room == 0) {
            free_block* const left_over = std::exchange(pool.spare, std::exchange(pool.first, nullptr));
            pool.room = static_cast<std::int32_t>(pool.most);
            if (left_over != nullptr && !put_batch(index, left_over)) {
                const std::lock_guard lock(mutex_);
                make_depot();
                batches_.give(core_, index, left_over);
            }
        }
        link(static_cast<free_block*>(block), pool.first);
        pool.first = static_cast<free_block*>(block);
        --pool.room;
        poison(block, bytes);
        return;
    }
    const std::lock_guard lock(mutex_);
    unpoison(block, bytes);
    core_.deallocate(block, bytes, alignment_of(bytes));
}

void shared_pools::give_back() {
    thread_cache* const mine = find_cache();
    const std::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < short_bins; ++index) {
        while (free_block* const batch = take_batch(index)) batches_.give(core_, index, batch);
        if (mine != nullptr) return_bin(index, mine->pools[index]);
    }
}

void* shared_pools::allocate(std::size_t bytes, std::size_t alignment) {
    void* block = nullptr;
    retry_once([&] {
        const std::lock_guard lock(mutex_);
        block = core_.allocate(bytes, alignment);
    });
    return block;
}

void shared_pools::deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    const std::lock_guard lock(mutex_);
    core_.deallocate(block, bytes, alignment);
}

shared_pools::own_blocks shared_pools::count_own() const noexcept {
    const std::lock_guard lock(resource_links);
    own_blocks result{0, depot_.load(std::memory_order_relaxed) != nullptr};
    for (const thread_cache* each = caches_; each != nullptr; each = each->next_of_owner) ++result.caches;
    return result;
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
