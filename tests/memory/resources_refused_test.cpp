// SPDX-License-Identifier: MIT
// Labels: own-heap no-valgrind
// Memory resources with every call of operator new and of the system refused in turn. The request throws bad_alloc or is served
// in another way; nothing else changes, and all memory is released in the end.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <new>
#include <string>

#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/testing.hpp>

#include "support/resource_model.hpp"
#include "support/resources.hpp"
#include "system/aligned_heap.hpp"

namespace {

// The program's heap: blocks in use, and the range of requests to refuse. Both count only while `counting`.
long blocks_of_heap = 0;
bool counting = false;
std::uint64_t heap_requests = 0;
std::uint64_t refused_from = 0, refused_to = 0;    // 0: none

void* from_heap(std::size_t bytes, std::size_t alignment) noexcept {
    if (counting && ++heap_requests >= refused_from && heap_requests < refused_to) return nullptr;
    constexpr std::size_t most = SIZE_MAX >> (sizeof(std::size_t) >= 8 ? 18 : 4);
    if (bytes > most || alignment > most) return nullptr;
    void* const block =
        alignment <= alignof(std::max_align_t) ? std::malloc(bytes) : headroom_test::allocate_aligned(bytes, alignment);
    if (block != nullptr) ++blocks_of_heap;
    return block;
}
void to_heap(void* block, bool aligned) noexcept {
    if (block != nullptr) --blocks_of_heap;
    if (aligned) headroom_test::free_aligned(block);
    else std::free(block);
}

}    // namespace

void* operator new(std::size_t bytes) {
    void* const block = from_heap(bytes, 1);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    void* const block = from_heap(bytes, static_cast<std::size_t>(alignment));
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return from_heap(bytes, 1); }
void operator delete(void* block) noexcept { to_heap(block, false); }
void operator delete(void* block, std::size_t) noexcept { to_heap(block, false); }
void operator delete(void* block, std::align_val_t alignment) noexcept {
    to_heap(block, static_cast<std::size_t>(alignment) > alignof(std::max_align_t));
}
void operator delete(void* block, std::size_t, std::align_val_t alignment) noexcept { operator delete(block, alignment); }

namespace {

using headroom::testing::afterwards;

struct monotonic {
    headroom::monotonic_resource resource;
    static constexpr bool reuses = false;
};
struct arena {
    headroom::arena_resource resource{std::size_t{64} << 20};
    static constexpr bool reuses = false;
};
template <class Resource, std::size_t most_blocks = 0, std::size_t largest = 0>
struct pools {
    Resource resource{std::pmr::pool_options{most_blocks, largest}};
    static constexpr bool reuses = true;
};
using one = headroom::multipool_resource;
using shared = headroom::synchronized_multipool_resource;
using kinds = testing::Types<monotonic, arena, pools<one>, pools<one, 1>, pools<one, 0, 256>, pools<one, 2, 8>, pools<shared>,
                             pools<shared, 1>, pools<shared, 0, 256>, pools<shared, 2, 8>>;

// Forwards to the resource with `counting` set: the model allocates too.
template <class Resource>
struct watched {
    Resource& resource;
    void* allocate(std::size_t bytes, std::size_t alignment) {
        const counted now;
        return resource.allocate(bytes, alignment);
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment) {
        const counted now;
        resource.deallocate(block, bytes, alignment);
    }

private:
    struct counted {
        counted() { counting = true; }
        ~counted() { counting = false; }
    };
};

// Use according to the resource's own statistics; 0 if it has none.
std::size_t in_use(headroom::arena_resource& of) { return of.underlying().used(); }
std::size_t in_use(headroom::monotonic_resource&) { return 0; }
template <class Pool>
std::size_t in_use(Pool& of) {
    return of.statistics().blocks;
}

template <class Kind>
class refused_requests : public testing::Test {
protected:
    // Runs a resource through its life with refusals. Returns the number of system calls.
    template <class Refuse>
    static std::uint64_t live(Refuse refuse) {
        // Runs it twice if memory stays allocated: a one-time allocation of the process does not repeat, a leak does.
        const long before = blocks_of_heap;
        std::uint64_t calls = live_once(refuse);
        if (blocks_of_heap != before) {
            const long again = blocks_of_heap;
            calls = live_once(refuse);
            EXPECT_EQ(blocks_of_heap, again);
        }
        return calls;
    }

    // Returns the next k to refuse: all of the first ones, then at growing intervals.
    static std::uint64_t after(std::uint64_t k) { return k + 1 + (k > (headroom_test::sanitized ? 8 : 40) ? k / 2 : 0); }

private:
    template <class Refuse>
    static std::uint64_t live_once(Refuse refuse) {
        std::uint64_t calls = 0;
        {
            headroom_test::resource_model<> model(headroom_test::random(5));
            Kind kind;
            watched<decltype(kind.resource)> resource{kind.resource};
            const std::size_t at_first = in_use(kind.resource);
            heap_requests = 0;
            refuse();
            for (int done = 0; done < 400; ++done) {
                const std::size_t dice = model.below(1000);
                const bool looks = dice < 600 && done % 4 == 0;    // slower than all other steps
                const std::size_t had = looks ? in_use(kind.resource) : 0;
                try {
                    if (dice < 600) model.allocate(resource);
                    else if (dice < 990) model.deallocate(resource);
                    else if constexpr (Kind::reuses) (void)kind.resource.trim();
                } catch (const std::bad_alloc&) {
                    if (looks) {
                        EXPECT_LE(in_use(kind.resource), had);
                    }
                }
            }
            model.check();
            if constexpr (Kind::reuses) {
                while (model.blocks() != 0) model.deallocate(resource);
                EXPECT_LE(in_use(kind.resource), at_first);
            }
            refused_from = refused_to = 0;
            calls = headroom::testing::stop_failing();
            model.forget();
            kind.resource.rewind();
            model.allocate(resource);
            model.forget();
            kind.resource.release();
        }
        headroom::trim_cache();
        EXPECT_TRUE(headroom::reservations().empty());
        return calls;
    }
};
TYPED_TEST_SUITE(refused_requests, kinds);

TYPED_TEST(refused_requests, at_every_request_to_the_heap) {
    for (const std::uint64_t in_a_row : {1U, 3U}) {
        for (std::uint64_t k = 1;; k = this->after(k)) {
            SCOPED_TRACE("requests " + std::to_string(k) + " and so on, " + std::to_string(in_a_row));
            this->live([&] {
                refused_from = k;
                refused_to = k + in_a_row;
            });
            if (heap_requests < k || testing::Test::HasFailure()) break;
        }
    }
}

TYPED_TEST(refused_requests, at_every_call_of_the_system) {
    for (std::uint64_t k = 1;; k = this->after(k)) {
        SCOPED_TRACE("system call " + std::to_string(k));
        const std::uint64_t calls = this->live([&] { headroom::testing::fail_system_call(k); });
        if (calls < k || testing::Test::HasFailure()) break;
    }
}

// Refuses all system calls from one on, and one request of the heap.
TYPED_TEST(refused_requests, by_the_system_for_ever_and_by_the_heap_once) {
    for (const std::uint64_t call : {1U, 3U, 8U, 20U}) {
        for (std::uint64_t k = 1; k < 40; k += headroom_test::sanitized ? 9 : 3) {
            SCOPED_TRACE("system call " + std::to_string(call) + ", request " + std::to_string(k));
            this->live([&] {
                refused_from = k;
                refused_to = k + 1;
                headroom::testing::fail_system_call(call, ENOMEM, afterwards::keep_failing);
            });
            if (testing::Test::HasFailure()) return;
        }
    }
}

}    // namespace
