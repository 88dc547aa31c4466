// How the threads of a program share the pools of one synchronized_multipool_resource: each keeps a few free blocks of each
// size to itself, and passes them on in batches. A batch that a thread has no use for goes to a depot, where another thread
// finds it, without a lock and without a look at its blocks; the pools, behind a lock, are asked only when the depot is empty or
// full. So where one thread allocates what another gives back, the blocks go round in batches.
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

// The free blocks of one size that a thread keeps: a list, and a batch besides, so that a thread whose use goes up and down by a
// few blocks need not turn to others each time. Last in, first out: what was used a moment ago is still in the processor's cache.
// (Where a thread frees and allocates blocks of many sizes in random order, a queue missed that cache a sixth more often. That
// neighbours in memory stay neighbours in the order of use is the slabs' work, where all but these few blocks are.)
struct thread_bin {
    free_block* first = nullptr;
    free_block* spare_batch = nullptr;    // a batch, or null
    std::int32_t capacity_left = 0;       // how many more the list may get
    std::uint32_t max_blocks = 0;         // how many it may have, and make a batch; 0 until it is first used
};
static_assert(sizeof(thread_bin) == sizeof(bin), "bin_offset serves both");

// A batch is a list of `max_blocks` blocks, known by its first one. The last one's link is null.
struct depot {
    static constexpr std::size_t slot_count = 4;
    std::array<std::array<std::atomic<free_block*>, slot_count>, short_bin_count> batches{};
};

// What one thread keeps for one resource: a block of the resource itself, so it goes when all its blocks go, or when the
// thread ends. Its links are guarded by one lock for the program, under which nothing else is done: an upstream that is
// called under it might want it too.
struct thread_cache {
    std::array<std::byte, 64> padding;    // so that threads do not write to each other's lines
    std::array<thread_bin, short_bin_count> pools{};
    shared_pools* owner = nullptr;
    thread_cache* next_of_owner = nullptr;    // the resource's list
    thread_cache* previous_of_owner = nullptr;
    thread_exit_record* thread = nullptr;
    thread_cache* next_of_thread = nullptr;    // the thread's list
    thread_cache* previous_of_thread = nullptr;
};

// Where a thread finds its cache: by the resource's place, good if the serial number agrees.
struct thread_slot {
    std::uint64_t serial = 0;    // of the resource; 0: none
    thread_cache* cache = nullptr;
};

// So many resources at once are found without a lock; beyond, resources share a place and take turns in it.
inline constexpr std::size_t thread_slot_count = 64;

HEADROOM_API extern constinit thread_local std::array<thread_slot, thread_slot_count> thread_slots;

// How many blocks of `bytes` travel at once: 4 KiB, but from 2 to 32 blocks.
constexpr std::uint32_t batch_blocks(std::size_t bytes) noexcept {
    const std::size_t fitting = 4096 / bytes;
    return static_cast<std::uint32_t>(fitting < 2 ? 2 : fitting > 32 ? 32 : fitting);
}

// How blocks of one pool leave the core and come back, many at a time. `take` throws what the core throws; `into` then has
// fewer than `count` more. `give` gets a list whose last link is null, or null.
struct core_batches {
    void (*take)(std::pmr::memory_resource& core, std::size_t index, bin_queue& into, std::uint32_t count);
    void (*give)(std::pmr::memory_resource& core, std::size_t index, free_block* list);
};

class HEADROOM_API shared_pools {
public:
    // `core` hands out the blocks, and takes memory from `upstream`; it is called under the lock only. Never throws.
    shared_pools(std::pmr::memory_resource& core, const std::pmr::memory_resource* upstream,
                 const core_batches& batches) noexcept;
    shared_pools(const shared_pools&) = delete;
    shared_pools& operator=(const shared_pools&) = delete;
    // Precondition: no other thread is in a call. The caches go with the core's blocks. A thread that ends is not in a call,
    // so it may be giving back what it kept: this waits until it has.
    ~shared_pools();

    // The calling thread's cache; null when it has none yet, or another resource took its place. No lock.
    [[nodiscard]] thread_cache* cache() const noexcept {
        const thread_slot& mine =
            *reinterpret_cast<const thread_slot*>(reinterpret_cast<const std::byte*>(thread_slots.data()) + slot_offset_);
        if (HEADROOM_UNLIKELY(mine.serial != serial_)) return nullptr;
        if (mine.cache == nullptr) HEADROOM_UNREACHABLE();    // no resource has the serial number of an empty place
        return mine.cache;
    }

    // A block of the pool (bin_offset says which) from another thread or the core, and more for the thread to keep. Throws what the
    // core throws.
    void* refill(std::size_t at);
    // Takes back a block for which the thread's list has no room, or that has no cache to keep it in.
    void deallocate_slow(std::size_t at, void* block);
    // Straight to the core, for sizes that threads do not keep.
    void* allocate(std::size_t bytes, std::size_t alignment);
    void deallocate(void* block, std::size_t bytes, std::size_t alignment);

    // Gives back to the core what the calling thread keeps, and what is in the depot.
    void flush();

    // Forgets every thread's cache, because the core is about to forget all its blocks, and the caches are among them.
    // Precondition: no other thread is in a call. Waits as the destructor does.
    void forget_caches() noexcept;

    [[nodiscard]] resource_mutex& mutex() noexcept { return mutex_; }

    // How many blocks of the core's are caches, and whether one is the depot.
    struct own_block_count {
        std::size_t caches = 0;
        bool depot = false;
    };
    [[nodiscard]] own_block_count own_block_counts() const noexcept;

private:
    friend struct thread_exit_record;

    template <class Operation>
    void retry_after_flush(Operation operation);
    // The calling thread's cache, though another resource may have taken its place; null when it has none.
    thread_cache* find_cache() noexcept;
    thread_cache* find_or_make_cache();
    thread_cache* try_find_or_make_cache() noexcept;
    // Neither looks at the blocks, or takes the lock.
    [[nodiscard]] bool push_batch(std::size_t index, free_block* batch) noexcept;
    [[nodiscard]] free_block* pop_batch(std::size_t index) noexcept;
    // To the core, under the lock.
    void flush_bin(std::size_t index, thread_bin& pool);
    void ensure_depot();
    // What a thread that ends kept, and the cache, which is in no list any more.
    void return_cache(thread_cache& gone);
    // Both under the lock of the links.
    void unlink(thread_cache& gone) noexcept;
    std::uint32_t& returning_threads() noexcept;

    std::pmr::memory_resource& core_;
    const core_batches& batches_;
    std::uint64_t serial_;                  // unique in the program's life, never 0; another one each time that all is forgotten
    std::size_t slot_offset_;               // in a thread's places, in bytes
    std::atomic<depot*> depot_{nullptr};    // a block of the core's; null until a batch is first left over
    resource_mutex mutex_;
    thread_cache* caches_ = nullptr;
    std::uint32_t returning_threads_ =
        0;    // threads that end and are in return_cache, since so many forks; guarded as the links are
    std::uint32_t forks_;
};

}}}    // namespace headroom::detail
