// SPDX-License-Identifier: MIT
// Labels: thread
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::synchronized_multipool_resource;
using headroom_test::aligned;
using headroom_test::counting_upstream;

// Runs `work(number)` on `count` threads and joins them.
template <class Work>
void on_threads(int count, Work work) {
    std::vector<std::thread> threads;
    for (int number = 0; number < count; ++number) threads.emplace_back([&work, number] { work(number); });
    for (std::thread& each : threads) each.join();
}

struct block {
    unsigned char* data;
    std::size_t bytes;
    unsigned char seed;

    [[nodiscard]] bool kept() const { return data[0] == seed && data[bytes - 1] == seed && data[bytes / 2] == seed; }
};

block make(synchronized_multipool_resource& resource, headroom_test::random& random) {
    const std::size_t bytes = random.below(100) < 97 ? random.below(300) + 1 : random.below(20'000) + 1;
    auto* const data = static_cast<unsigned char*>(resource.allocate(bytes, 1));
    const auto seed = static_cast<unsigned char>(random());
    std::memset(data, seed, bytes);
    return {data, bytes, seed};
}

TEST(synchronized_multipool, construction_allocates_nothing) {
    counting_upstream upstream;
    const headroom_test::default_resource set(&upstream);
    const synchronized_multipool_resource a;
    const synchronized_multipool_resource b(&upstream);
    const synchronized_multipool_resource c(std::pmr::pool_options{10, 100});
    const synchronized_multipool_resource d({10, 100}, &upstream);
    EXPECT_EQ(upstream.requests(), 0U);
    for (const auto* each : {&a, &b, &c, &d}) EXPECT_EQ(each->upstream_resource(), &upstream);
    EXPECT_EQ(d.options().largest_required_pool_block, 104U);
}

TEST(synchronized_multipool, allocates_aligned_distinct_blocks_of_every_size) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    for (int round = 0; round < 2; ++round) {
        std::set<void*> seen;
        std::vector<std::tuple<void*, std::size_t, std::size_t>> blocks;
        for (std::size_t alignment = 1; alignment <= 8192; alignment *= 2) {
            for (const std::size_t bytes : {0U, 1U, 24U, 100U, 4096U, 5000U, 70'000U}) {
                void* const got = resource.allocate(bytes, alignment);
                ASSERT_TRUE(aligned(got, alignment));
                ASSERT_TRUE(seen.insert(got).second);
                std::memset(got, 1, bytes);
                blocks.emplace_back(got, bytes, alignment);
            }
        }
        for (const auto& [got, bytes, alignment] : blocks) resource.deallocate(got, bytes, alignment);
    }
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TEST(synchronized_multipool, threads_do_not_disturb_each_other) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    std::atomic<int> broken = 0;
    on_threads(4, [&](int number) {
        headroom_test::random random(static_cast<std::uint64_t>(number) + 1);
        std::vector<block> live;
        for (int i = 0; i < 30'000; ++i) {
            if (live.size() < 500 && random.below(100) < 55) {
                live.push_back(make(resource, random));
            } else if (!live.empty()) {
                std::swap(live[random.below(live.size())], live.back());
                broken += !live.back().kept();
                resource.deallocate(live.back().data, live.back().bytes, 1);
                live.pop_back();
            }
        }
        for (const block& each : live) {
            broken += !each.kept();
            resource.deallocate(each.data, each.bytes, 1);
        }
    });
    EXPECT_EQ(broken, 0);
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

// The blocks that threads cache, and the caches themselves, come from upstream.
TEST(synchronized_multipool, many_threads_in_turn_take_no_more_than_one) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    const auto one = [&] { resource.deallocate(resource.allocate(100), 100); };
    on_threads(1, [&](int) { one(); });
    const std::uint64_t requests = upstream.requests();
    for (int i = 0; i < 200; ++i) on_threads(1, [&](int) { one(); });
    EXPECT_EQ(upstream.requests(), requests);
}

TEST(synchronized_multipool, a_thread_goes_on_after_a_rewind_and_a_release) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    synchronized_multipool_resource other(&upstream);
    for (int round = 0; round < 6; ++round) {
        std::set<void*> seen;
        for (int i = 0; i < 500; ++i) {
            for (auto* each : {&resource, &other}) {
                void* const got = each->allocate(24);
                std::memset(got, round, 24);
                ASSERT_TRUE(seen.insert(got).second);
            }
        }
        round % 2 == 0 ? resource.rewind() : resource.release();
    }
    other.release();
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

// One thread allocates, another deallocates: the memory is reused and does not pile up.
TEST(synchronized_multipool, blocks_may_be_given_back_by_another_thread) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<block> queue;
    bool done = false;
    std::atomic<int> broken = 0;
    std::thread consumer([&] {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [&] { return !queue.empty() || done; });
            if (queue.empty()) return;
            const block got = queue.front();
            queue.pop_front();
            lock.unlock();
            broken += !got.kept();
            resource.deallocate(got.data, got.bytes, 1);
            lock.lock();
            changed.notify_all();
        }
    });
    headroom_test::random random(3);
    for (int i = 0; i < 30'000; ++i) {
        const block made = make(resource, random);
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return queue.size() < 100; });
        queue.push_back(made);
        changed.notify_all();
    }
    {
        const std::lock_guard lock(mutex);
        done = true;
        changed.notify_all();
    }
    consumer.join();
    EXPECT_EQ(broken, 0);
    EXPECT_LE(upstream.bytes(), 8'000'000U);    // 30,000 blocks of 450 bytes on average passed through
}

TEST(synchronized_multipool, a_thread_that_ends_gives_back_what_it_kept) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    const auto use = [&] {
        std::vector<void*> blocks;
        for (int i = 0; i < 100; ++i) blocks.push_back(resource.allocate(100));
        for (void* const each : blocks) resource.deallocate(each, 100);
    };
    std::thread(use).join();
    const std::size_t bytes = upstream.bytes();
    // A batch of 32 left behind by each of 200 threads would take 700 KB.
    for (int again = 0; again < 200; ++again) std::thread(use).join();
    EXPECT_EQ(upstream.bytes(), bytes);
}

TEST(synchronized_multipool, a_thread_may_outlive_the_resource) {
    counting_upstream upstream;
    std::mutex mutex;
    std::condition_variable changed;
    int step = 0;
    auto first = std::make_unique<synchronized_multipool_resource>(&upstream);
    synchronized_multipool_resource second(&upstream);
    std::thread user([&] {
        first->deallocate(first->allocate(10), 10);
        second.deallocate(second.allocate(10), 10);
        std::unique_lock lock(mutex);
        step = 1;
        changed.notify_all();
        changed.wait(lock, [&] { return step == 2; });
        // A later resource, perhaps at this address, must not find the blocks cached for the first.
        second.deallocate(second.allocate(10), 10);
        first->deallocate(first->allocate(10), 10);
    });
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return step == 1; });
        first.reset();
        first = std::make_unique<synchronized_multipool_resource>(&upstream);
        step = 2;
        changed.notify_all();
    }
    user.join();
    first.reset();
    second.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TEST(synchronized_multipool, more_resources_than_places_work_too) {
    counting_upstream upstream;
    {
        std::deque<synchronized_multipool_resource> many;
        for (int i = 0; i < 150; ++i) many.emplace_back(&upstream);
        on_threads(2, [&](int number) {
            for (int round = 0; round < 10; ++round) {
                std::vector<void*> blocks;
                for (auto& each : many) {
                    blocks.push_back(each.allocate(50));
                    std::memset(blocks.back(), number, 50);
                }
                for (std::size_t i = 0; i < many.size(); ++i) many[i].deallocate(blocks[i], 50);
            }
        });
    }
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TEST(synchronized_multipool, release_empties_every_threads_share) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    std::mutex mutex;
    std::condition_variable changed;
    int step = 0;
    std::thread user([&] {
        for (int round = 0; round < 3; ++round) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return step == 2 * round; });
            for (int i = 0; i < 10; ++i) resource.deallocate(resource.allocate(64), 64);
            ++step;
            changed.notify_all();
        }
    });
    for (int round = 0; round < 3; ++round) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return step == 2 * round + 1; });
        (void)resource.allocate(64);
        if (round == 1) {
            resource.rewind();
        } else {
            resource.release();
            EXPECT_EQ(upstream.blocks(), 0U);
        }
        ++step;
        changed.notify_all();
    }
    user.join();
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TEST(synchronized_multipool, a_refusal_while_filling_a_batch_is_not_the_users) {
    for (std::uint64_t k = 1; k < 30; ++k) {
        counting_upstream upstream;
        synchronized_multipool_resource resource({1, 4096}, &upstream);    // a chunk for each block
        upstream.refuse(k);
        int refused = 0;
        std::vector<void*> blocks;
        for (int i = 0; i < 10; ++i) {
            try {
                blocks.push_back(resource.allocate(2048));
            } catch (const std::bad_alloc&) {
                ++refused;
            }
        }
        EXPECT_LE(refused, 1);
        for (void* const each : blocks) resource.deallocate(each, 2048);
        resource.release();
        EXPECT_EQ(upstream.blocks(), 0U);
        EXPECT_EQ(upstream.mistakes(), 0U);
    }
}

TEST(synchronized_multipool, options_exclude_sizes) {
    counting_upstream upstream;
    synchronized_multipool_resource resource({0, 64}, &upstream);
    resource.deallocate(resource.allocate(64, 8), 64, 8);
    const std::size_t blocks = upstream.blocks();
    void* const large = resource.allocate(65, 8);
    EXPECT_EQ(upstream.blocks(), blocks + 1);
    resource.deallocate(large, 65, 8);
    EXPECT_EQ(upstream.blocks(), blocks);
}

// Forwards to another resource; with `interrupts` set, calls a function of the test first. The test arranges which thread it runs
// on, since an ending thread may have no thread_local variables left.
class interrupted_upstream final : public std::pmr::memory_resource {
public:
    explicit interrupted_upstream(std::pmr::memory_resource* below) : below_(below) {}

    std::atomic<bool> interrupts = false;
    std::function<void(std::size_t alignment)> before_allocate = [](std::size_t) {};
    std::function<void()> before_deallocate = [] {};

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (interrupts) before_allocate(alignment);
        return below_->allocate(bytes, alignment);
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        if (interrupts) before_deallocate();
        below_->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::pmr::memory_resource* below_;
};

// With this limit a thread's cache is an excluded size, so it is allocated upstream directly and deallocated when the thread
// ends. Tests interrupt the end of a thread there.
const std::pmr::pool_options only_small{0, 64};

// An ending thread calls upstreams without the lock that the first use of any resource takes.
TEST(synchronized_multipool, a_thread_that_ends_holds_up_no_other) {
    counting_upstream upstream;
    interrupted_upstream slow(&upstream);
    synchronized_multipool_resource resource(only_small, &slow);
    std::promise<void> ends;
    std::promise<void> used;
    bool in_time = false;
    slow.before_deallocate = [&] {
        slow.interrupts = false;
        ends.set_value();
        in_time = used.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready;
    };
    std::thread ending([&] {
        slow.interrupts = true;
        resource.deallocate(resource.allocate(8), 8);
    });
    ends.get_future().wait();
    synchronized_multipool_resource other(&upstream);
    other.deallocate(other.allocate(8), 8);
    used.set_value();
    ending.join();
    EXPECT_TRUE(in_time);
}

// Deadlocks if an ending thread holds the lock of first use while it waits for the outer resource, and another thread inside the
// outer resource is about to use the inner one for the first time.
TEST(synchronized_multipool, a_thread_may_end_while_another_first_uses_the_upstream) {
    counting_upstream upstream;
    synchronized_multipool_resource inner(&upstream);
    interrupted_upstream between(&inner);
    synchronized_multipool_resource outer({1, 4096}, &between);    // small chunks, the size of a thread's cache
    interrupted_upstream at_end(&upstream);
    synchronized_multipool_resource used_last(only_small, &at_end);    // returned first
    std::promise<void> keeps;
    std::promise<void> inside;
    std::promise<void> ends;
    at_end.before_deallocate = [&] {
        at_end.interrupts = false;
        ends.set_value();
    };
    std::thread ending([&] {
        outer.deallocate(outer.allocate(8), 8);
        used_last.deallocate(used_last.allocate(8), 8);
        keeps.set_value();
        inside.get_future().wait();
        at_end.interrupts = true;
    });
    keeps.get_future().wait();
    std::thread beginning([&] {
        between.before_allocate = [&](std::size_t alignment) {
            // Thread caches are over-aligned and do not take the path under test.
            if (alignment > alignof(std::max_align_t)) return;
            between.interrupts = false;
            inside.set_value();
            ends.get_future().wait();
        };
        between.interrupts = true;
        outer.deallocate(outer.allocate(8), 8);
    });
    ending.join();
    beginning.join();
    EXPECT_FALSE(between.interrupts);
    EXPECT_FALSE(at_end.interrupts);
    for (auto* each : {&used_last, &outer, &inner}) each->release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TEST(synchronized_multipool, a_resource_waits_for_a_thread_that_is_giving_back_what_it_kept) {
    using held_resource = std::unique_ptr<synchronized_multipool_resource>;
    const std::vector<std::function<void(held_resource&)>> ways = {
        [](held_resource& resource) { resource.reset(); },
        [](held_resource& resource) { resource->release(); },
        [](held_resource& resource) { resource->rewind(); },
    };
    for (const auto& way : ways) {
        counting_upstream upstream;
        interrupted_upstream slow(&upstream);
        auto resource = std::make_unique<synchronized_multipool_resource>(only_small, &slow);
        std::promise<void> ends;
        std::atomic<bool> done = false;
        std::atomic<bool> waited = false;
        slow.before_deallocate = [&] {
            slow.interrupts = false;
            ends.set_value();
            std::this_thread::sleep_for(std::chrono::milliseconds(100));    // time for the mistake
            waited = !done;
        };
        std::thread ending([&] {
            slow.interrupts = true;
            resource->deallocate(resource->allocate(8), 8);
        });
        ends.get_future().wait();
        way(resource);
        done = true;
        ending.join();
        EXPECT_TRUE(waited);
        resource.reset();
        EXPECT_EQ(upstream.blocks(), 0U);
        EXPECT_EQ(upstream.mistakes(), 0U);
    }
}

TEST(synchronized_multipool, serves_containers_of_many_threads) {
    synchronized_multipool_resource resource;
    on_threads(4, [&](int number) {
        std::pmr::list<std::pmr::string> list(&resource);
        for (int i = 0; i < 3000; ++i) {
            list.emplace_back(std::string(50, static_cast<char>('a' + number)));
            if (i % 3 == 0) list.pop_front();
        }
        for (const auto& each : list) ASSERT_EQ(each[49], 'a' + number);
    });
}

TEST(synchronized_multipool, equal_only_to_itself) {
    const synchronized_multipool_resource a, b;
    EXPECT_TRUE(a.is_equal(a));
    EXPECT_FALSE(a.is_equal(b));
}

}    // namespace
