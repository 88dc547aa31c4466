// Thread caches of a synchronized_multipool_resource. Each thread keeps a few free blocks of each size, and passes them on in batches. A
// batch that it has no use for goes to a depot, where another thread finds it, without a lock and without touching its blocks. Only if the
// depot is empty or full are the pools used, under a lock. So blocks that one thread allocates and another frees go round in batches.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/resource_mutex.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

class shared_pools;
struct thread_exit_record;

// A thread's free blocks of one size: a list, and a spare batch, so that a thread whose use varies by a few blocks need not use the depot
// each time. LIFO, because the block freed last is still in the processor's cache: with a queue, frees and allocations of many sizes in
// random order missed that cache a sixth more often. Slabs, which have all but these few blocks, keep neighbours together.
struct thread_bin {
    free_block* first = nullptr;
    free_block* spare_batch = nullptr;    // a batch, or null
    std::int32_t capacity_left = 0;       // blocks that still fit into the list
    std::uint32_t max_blocks = 0;         // capacity of the list, and size of a batch; 0 until first used
};

// Batches in transit. A batch is a null-terminated list of `max_blocks` blocks, represented by its first.
struct depot {
    static constexpr std::size_t slot_count = 4;
    bin_array<std::array<std::atomic<free_block*>, slot_count>, short_bin_count> batches{};
};

// A thread's cache for one resource: a block of that resource, freed with all its blocks or when the thread ends. Its links are guarded by
// resource_links, under which no other lock is taken and no code of the program runs, because an upstream might want it too.
struct thread_cache {
    std::array<std::byte, 64> padding;    // keeps threads' caches in different cache lines
    bin_array<thread_bin, short_bin_count> bins{};
    shared_pools* owner = nullptr;
    thread_cache* next_of_owner = nullptr;    // list of the resource
    thread_cache* previous_of_owner = nullptr;
    thread_exit_record* thread = nullptr;
    thread_cache* next_of_thread = nullptr;    // list of the thread
    thread_cache* previous_of_thread = nullptr;
};

// A thread's pointer to its cache of a resource, valid if the serial number agrees.
struct thread_entry {
    std::uint64_t serial = 0;    // of the resource; 0: none
    thread_cache* cache = nullptr;
};

// Number of resources that have an entry of their own in each thread. More share entries, and then take turns.
inline constexpr std::size_t thread_entry_count = 64;

#if defined(HEADROOM_DLL)
// Returns the calling thread's entries. A function, because on Windows no program reaches a thread_local variable of a DLL.
[[nodiscard]] thread_entry* own_thread_entries() noexcept;
#else
HEADROOM_API extern constinit thread_local std::array<thread_entry, thread_entry_count> thread_entries;
[[nodiscard]] HEADROOM_ALWAYS_INLINE thread_entry* own_thread_entries() noexcept { return thread_entries.data(); }
#endif

// Returns how many blocks of `bytes` a thread's list gets from the core at a time: 4 KiB, but from 2 to 32 blocks. It holds twice as many.
constexpr std::uint32_t blocks_per_refill(std::size_t bytes) noexcept {
    const std::size_t fitting = 4096 / bytes;
    return static_cast<std::uint32_t>(fitting < 2 ? 2 : fitting > 32 ? 32 : fitting);
}

// The core's batch calls. `allocate` appends `count` blocks, or fewer and throws as the core; `deallocate` frees a null-terminated list.
struct core_batches {
    void (*allocate)(std::pmr::memory_resource& core, bin_index index, bin_queue& into, std::uint32_t count);
    void (*deallocate)(std::pmr::memory_resource& core, bin_index index, free_block* list);
};

class HEADROOM_API shared_pools {
public:
    // `core` allocates the blocks, with memory from `upstream`; it is called under the lock only. Never throws.
    shared_pools(std::pmr::memory_resource& core, const std::pmr::memory_resource* upstream,
                 const core_batches& batches) noexcept;
    shared_pools(const shared_pools&) = delete;
    shared_pools& operator=(const shared_pools&) = delete;
    // Precondition: no other thread is in a call. Waits for threads that end and return their blocks. The core's blocks go with it.
    ~shared_pools();

    // Returns the calling thread's cache; null if it has none yet, or another resource took its entry. Takes no lock.
    [[nodiscard]] thread_cache* cache() const noexcept {
        const thread_entry& mine = *reinterpret_cast<const thread_entry*>(
            reinterpret_cast<const std::byte*>(detail::own_thread_entries()) + entry_offset_);
        if (HEADROOM_UNLIKELY(mine.serial != serial_)) return nullptr;
        if (mine.cache == nullptr) HEADROOM_UNREACHABLE();    // no resource has the serial number of an empty entry
        return mine.cache;
    }

    // Slow path of allocation: refills the thread's list at `offset` from its spare batch, the depot or the core. Throws as the core.
    void* refill(bin_offset offset);
    // Slow path of deallocation: passes on a batch if the thread's list is full, and pushes the block; without a cache the core frees it.
    void deallocate_slow(bin_offset offset, void* block);
    // Allocates in the core, under the lock; after bad_alloc calls flush() and tries again. Throws what the core throws then.
    void* allocate(std::size_t bytes, std::size_t alignment);
    void deallocate(void* block, std::size_t bytes, std::size_t alignment);

    // Returns the calling thread's and the depot's blocks to the core. False if there were none. Takes the lock.
    bool flush();

    // Forgets caches and depot, before the core frees its blocks. Precondition: no other thread is in a call. Waits like the destructor.
    void forget_caches() noexcept;

    [[nodiscard]] resource_mutex& mutex() noexcept { return mutex_; }

    struct own_block_count {
        std::size_t caches = 0;
        bool depot = false;
    };
    // Returns how many of the core's blocks are thread caches, and true if the depot is one. Takes resource_links.
    [[nodiscard]] own_block_count own_block_counts() const noexcept;

private:
    friend struct thread_exit_record;

    template <class Operation>
    void retry_after_flush(Operation operation);
    // Refills the thread's empty list from the core, and returns one more block. Throws as the core.
    HEADROOM_HIDDEN free_block* refill_from_core(bin_index index, thread_bin& local);
    // Returns the calling thread's cache, or null. Takes resource_links if the thread's entry, which resources share, does not lead to it.
    HEADROOM_HIDDEN thread_cache* find_cache() noexcept;
    HEADROOM_HIDDEN thread_cache* find_or_make_cache();
    // Returns the calling thread's cache, made at the first call; null while the thread ends, or if the core throws.
    HEADROOM_HIDDEN thread_cache* try_find_or_make_cache() noexcept;
    // Moves a batch to the depot, without touching its blocks or taking the lock. False if the depot is full or not made yet.
    HEADROOM_HIDDEN [[nodiscard]] bool push_batch(bin_index index, free_block* batch) noexcept;
    // Removes and returns a batch of the depot, likewise; null if it has none of this bin.
    HEADROOM_HIDDEN [[nodiscard]] free_block* pop_batch(bin_index index) noexcept;
    // Returns a thread's blocks of bin `index` to the core. False if there were none. Requires the lock.
    HEADROOM_HIDDEN bool flush_bin(bin_index index, thread_bin& local);
    HEADROOM_HIDDEN void ensure_depot();
    // Returns the blocks of an ending thread's cache, and the unlinked cache itself, to the core. Takes the lock.
    HEADROOM_HIDDEN void return_cache(thread_cache& gone);
    // Removes the cache from the lists of its resource and its thread. Requires resource_links.
    HEADROOM_HIDDEN void unlink(thread_cache& gone) noexcept;
    // Returns the number of threads in return_cache(), reset in a forked child. Requires resource_links.
    HEADROOM_HIDDEN std::uint32_t& returning_threads() noexcept;

    std::pmr::memory_resource& core_;
    const core_batches& batches_;
    std::uint64_t serial_;                  // unique in the process, never 0; renewed by forget_caches()
    std::size_t entry_offset_;              // offset of the resource's entry in thread_entries, in bytes
    std::atomic<depot*> depot_{nullptr};    // a block of the core; null until a batch is first left over
    resource_mutex mutex_;
    thread_cache* caches_ = nullptr;
    std::uint32_t returning_threads_ =
        0;    // ending threads in return_cache(), since fork number forks_; guarded by resource_links
    std::uint32_t forks_;
};

}}}    // namespace headroom::detail
