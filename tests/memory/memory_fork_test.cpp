// SPDX-License-Identifier: MIT
// Forks while several threads use memory resources.
// Labels: posix thread no-valgrind
// Left out under Valgrind, which reports memory of the parent's other threads as leaked in the child.
#include <headroom/multipool.hpp>
#include <headroom/tracking.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "system/in_child.hpp"

// No child starts a thread: ThreadSanitizer would confuse it with a thread of the parent that has its number.
namespace {

using headroom::synchronized_multipool_resource;

// Runs threads that repeat `work` until it is destroyed.
class busy_threads {
public:
    template <class Work>
    busy_threads(int count, Work work) {
        for (int number = 0; number < count; ++number) {
            threads_.emplace_back([this, work] {
                while (!over_) work();
            });
        }
    }
    ~busy_threads() {
        over_ = true;
        for (std::thread& each : threads_) each.join();
    }

private:
    std::atomic<bool> over_{false};
    std::vector<std::thread> threads_;
};

// Allocates with frequent locking: at each block above 4 KiB, and at each batch of smaller ones.
void use(std::pmr::memory_resource& resource) {
    std::pmr::list<std::pmr::string> list(&resource);
    for (std::size_t i = 0; i < 300; ++i) list.emplace_back(i % 50 == 0 ? 5000 : i, 'x');
}

// Runs `body` in a child. An alarm ends a hanging child.
template <class Body>
int in_child_soon(Body body) {
    return headroom_test::in_child([&] {
        alarm(20);
        body();
        return 0;
    });
}

constexpr int forks = 30;

TEST(memory_fork, a_child_may_use_a_fresh_synchronized_multipool) {
    synchronized_multipool_resource resource;
    // Creating and destroying resources and threads takes the lock that they all share.
    const busy_threads busy(2, [&] {
        use(resource);
        std::thread([&] { use(resource); }).join();
        synchronized_multipool_resource another;
        use(another);
    });
    for (int i = 0; i < forks; ++i) {
        EXPECT_EQ(in_child_soon([] {
                      synchronized_multipool_resource fresh;
                      use(fresh);
                  }),
                  0);
    }
}

TEST(memory_fork, a_child_may_go_on_with_a_resource_that_other_threads_were_using) {
    synchronized_multipool_resource resource;
    synchronized_multipool_resource over(&resource);
    std::pmr::list<int> before({1, 2, 3}, &over);
    const busy_threads busy(2, [&] {
        use(resource);
        use(over);
        std::thread([&] { use(over); }).join();    // a thread returns its cache at its end: a child must not wait for it
    });
    for (int i = 0; i < forks; ++i) {
        EXPECT_EQ(in_child_soon([&] {
                      use(over);
                      before.push_back(4);
                      if (before != std::pmr::list<int>{1, 2, 3, 4}) _exit(1);
                      before.clear();
                      over.rewind();
                      use(over);
                      over.release();
                      resource.release();
                      use(resource);
                  }),
                  0);
    }
    EXPECT_EQ(before.size(), 3U);
}

TEST(memory_fork, a_child_may_go_on_with_a_tracking_resource) {
    headroom::tracking_resource resource;
    const busy_threads busy(2, [&] { use(resource); });
    for (int i = 0; i < forks; ++i) {
        EXPECT_EQ(in_child_soon([&] {
                      use(resource);
                      (void)resource.report();
                  }),
                  0);
    }
}

// A block held by the main thread, filled with its own number.
struct held_block {
    void* at;
    std::size_t bytes;
};
std::vector<held_block> held(std::pmr::memory_resource& resource, std::size_t count) {
    std::vector<held_block> blocks;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t bytes = std::size_t{16} << i % 5;
        blocks.push_back({resource.allocate(bytes), bytes});
        std::memset(blocks.back().at, static_cast<int>(i % 251), bytes);
    }
    return blocks;
}
bool are_as_filled(const std::vector<held_block>& blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto* const bytes = static_cast<const unsigned char*>(blocks[i].at);
        for (std::size_t j = 0; j < blocks[i].bytes; ++j)
            if (bytes[j] != i % 251) return false;
    }
    return true;
}

// One thread allocates and another deallocates, so that batches travel through the depot. A block that is in transit during a
// fork is not allocated twice in the child.
TEST(memory_fork, no_block_is_twos_though_batches_were_on_their_way_between_threads) {
    synchronized_multipool_resource resource;
    std::vector<held_block> mine = held(resource, 1000);
    constexpr std::size_t places = 256;
    std::vector<std::atomic<void*>> ring(places);
    std::atomic<bool> over{false};
    const auto bytes_at = [](std::size_t place) { return std::size_t{16} << place % 5; };
    std::thread producer([&] {
        for (std::size_t i = 0; !over; i = (i + 1) % places) {
            void* const block = resource.allocate(bytes_at(i));
            std::memset(block, 0xAA, bytes_at(i));
            if (void* const left = ring[i].exchange(block)) resource.deallocate(left, bytes_at(i));
        }
    });
    std::thread consumer([&] {
        for (std::size_t i = 0; !over; i = (i + 1) % places) {
            if (void* const block = ring[i].exchange(nullptr)) resource.deallocate(block, bytes_at(i));
        }
    });
    for (int i = 0; i < forks; ++i) {
        const int status = in_child_soon([&] {
            const std::vector<held_block> more = held(resource, 3000);
            if (!are_as_filled(mine) || !are_as_filled(more)) _exit(1);
            for (const held_block& each : mine) resource.deallocate(each.at, each.bytes);
            if (!are_as_filled(more)) _exit(2);
            for (const held_block& each : more) resource.deallocate(each.at, each.bytes);
            (void)resource.trim();
            (void)resource.statistics();
            const std::vector<held_block> again = held(resource, 3000);
            if (!are_as_filled(again)) _exit(3);
            resource.release();
            use(resource);
        });
        EXPECT_EQ(status, 0);
        if (status != 0) break;
    }
    over = true;
    producer.join();
    consumer.join();
    EXPECT_TRUE(are_as_filled(mine));
}

// An upstream that forks while the resource that called it holds its lock, for example to start a program.
class forking_upstream : public std::pmr::memory_resource {
public:
    int status = -1;

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* const block = std::pmr::new_delete_resource()->allocate(bytes, alignment);
        if (status == -1) {
            const pid_t child = fork();
            if (child == 0) alarm(20);
            if (child > 0) waitpid(child, &status, 0);
        }
        return block;
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST(memory_fork, an_upstream_may_fork_in_the_middle_of_a_call) {
    const pid_t self = getpid();
    forking_upstream upstream;
    {
        synchronized_multipool_resource resource(&upstream);
        use(resource);
        if (getpid() != self) _exit(0);
    }
    EXPECT_EQ(upstream.status, 0);
}

}    // namespace
