// SPDX-License-Identifier: MIT
// Forks of a process with upstreams that have a lock and pthread_atfork handlers of their own, and with other handlers that use a
// resource during the fork.
// Labels: posix thread no-valgrind
#include <headroom/multipool.hpp>
#include <headroom/tracking.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "support/repetitions.hpp"
#include "support/sanitizers.hpp"
#include "system/in_child.hpp"

namespace {

using headroom::synchronized_multipool_resource;

// Locks around its upstream and holds the lock during a fork. Handlers cannot be unregistered, so handlers and lock are static,
// one set for each `number`.
// `yields`: lets other threads run while it holds the lock.
template <int number, bool yields = true>
class careful_upstream : public std::pmr::memory_resource {
public:
    careful_upstream() {
        static const bool registered =
            pthread_atfork([] { lock().lock(); }, [] { lock().unlock(); }, [] { lock().unlock(); }) == 0;
        EXPECT_TRUE(registered);
    }
    static std::mutex& lock() {
        static std::mutex one;
        return one;
    }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        const std::lock_guard locked(lock());
        if (yields) std::this_thread::yield();
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        const std::lock_guard locked(lock());
        std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

void use(std::pmr::memory_resource& resource) {
    void* blocks[20];
    for (std::size_t i = 0; i < 20; ++i) blocks[i] = resource.allocate(100'000 + i * 5000, 8);
    void* const wide = resource.allocate(5000, 8);
    void* const small = resource.allocate(50, 8);
    std::memset(small, 1, 50);
    resource.deallocate(small, 50, 8);
    resource.deallocate(wide, 5000, 8);
    for (std::size_t i = 0; i < 20; ++i) resource.deallocate(blocks[i], 100'000 + i * 5000, 8);
}

// Runs `body` in a child. Alarms end a hanging child and a hanging parent.
template <class Body>
int in_child_soon(Body body) {
    alarm(60);
    const int status = headroom_test::in_child([&] {
        alarm(20);
        body();
        return 0;
    });
    alarm(0);
    return status;
}

class busy_threads {
public:
    explicit busy_threads(std::vector<std::pmr::memory_resource*> resources) {
        for (std::pmr::memory_resource* const each : resources) {
            threads_.emplace_back([this, each] {
                while (!over_) use(*each);
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

TEST(memory_fork_order, an_upstream_with_a_lock_and_handlers_of_its_own_may_be_forked_a_thousand_times) {
    careful_upstream<0> upstream;
    synchronized_multipool_resource resource(&upstream);
    const busy_threads busy({&resource, &resource});
    headroom_test::repetitions forks(headroom_test::sanitizer_needs_memory ? 200 : 1000);
    while (forks.next()) {
        ASSERT_EQ(in_child_soon([&] {
                      use(resource);
                      use(upstream);
                  }),
                  0)
            << forks.done();
    }
}

// Creates in turn upstreams that register handlers and resources over them.
TEST(memory_fork_order, resources_and_upstreams_may_be_made_in_turns) {
    careful_upstream<1> first;
    synchronized_multipool_resource over_first(&first);
    careful_upstream<2> second;
    headroom::tracking_resource over_second(&second);
    synchronized_multipool_resource over_both(&over_second);
    synchronized_multipool_resource by_default;
    careful_upstream<3> third;
    const auto over_third = std::make_unique<synchronized_multipool_resource>(&third);
    const busy_threads busy({&over_first, &over_second, &over_both, over_third.get(), &by_default});
    headroom_test::repetitions forks(headroom_test::sanitizer_needs_memory ? 50 : 200);
    while (forks.next()) {
        ASSERT_EQ(in_child_soon([&] {
                      for (std::pmr::memory_resource* const each : {static_cast<std::pmr::memory_resource*>(&over_first),
                                                                    static_cast<std::pmr::memory_resource*>(&over_both),
                                                                    static_cast<std::pmr::memory_resource*>(over_third.get())}) {
                          use(*each);
                      }
                      over_first.release();
                  }),
                  0)
            << forks.done();
    }
}

// Handlers of other code, registered before and after the resource was created.
std::atomic<std::pmr::memory_resource*> used_by_handlers{nullptr};
std::atomic<int> handled{0};
void handler() {
    std::pmr::memory_resource* const resource = used_by_handlers;
    if (resource == nullptr) return;
    use(*resource);
    synchronized_multipool_resource another(std::pmr::new_delete_resource());
    use(another);
    ++handled;
}

TEST(memory_fork_order, handlers_of_strangers_may_use_resources) {
    ASSERT_EQ(pthread_atfork(handler, handler, handler), 0);
    careful_upstream<4> upstream;
    synchronized_multipool_resource resource;
    synchronized_multipool_resource over(&upstream);    // the library's handlers run before and after those registered first
    ASSERT_EQ(pthread_atfork(handler, handler, handler), 0);
    headroom_test::repetitions forks(100);
    {
        const busy_threads busy({&resource, &over, &resource});
        used_by_handlers = &resource;
        while (forks.next()) ASSERT_EQ(in_child_soon([&] { use(resource); }), 0) << forks.done();
        used_by_handlers = nullptr;
    }
    EXPECT_EQ(handled, 4 * forks.done());    // two handlers before and two after each fork, in the parent
    use(resource);
}

// Resources leave no handlers behind.
TEST(memory_fork_order, a_process_may_make_many_resources_and_fork) {
    careful_upstream<5, false> upstream;
    for (int i = 0; i < 20'000; ++i) {
        synchronized_multipool_resource resource(&upstream);
        resource.deallocate(resource.allocate(8, 8), 8, 8);
    }
    synchronized_multipool_resource resource(&upstream);
    const busy_threads busy({&resource});
    for (int i = 0; i < 20; ++i) ASSERT_EQ(in_child_soon([&] { use(resource); }), 0);
}

}    // namespace
