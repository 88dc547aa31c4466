// SPDX-License-Identifier: MIT
// Memory resources at program exit: destructors of static and thread_local objects deallocate blocks of another thread, in every
// order of destruction.
// Labels: posix thread no-valgrind
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/tracking.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <memory_resource>
#include <thread>
#include <utility>
#include <vector>

#include "support/resources.hpp"
#include "system/in_child.hpp"

namespace {

using headroom::synchronized_multipool_resource;

constexpr std::size_t sizes[] = {16, 40, 200, 1000, 4000, 5000, 100'000};

// Holds blocks of a resource; deallocates them in its destructor.
struct holder {
    synchronized_multipool_resource* from = nullptr;
    std::vector<std::pair<void*, std::size_t>> blocks;

    void fill(synchronized_multipool_resource& resource) {
        from = &resource;
        for (int i = 0; i < 300; ++i) {
            const std::size_t bytes = sizes[static_cast<std::size_t>(i) % std::size(sizes)];
            blocks.emplace_back(resource.allocate(bytes), bytes);
        }
    }
    void empty() {
        for (const auto& [block, bytes] : blocks) from->deallocate(block, bytes);
        blocks.clear();
    }
    ~holder() {
        empty();
        if (from == nullptr) return;
        // Uses the resource once more.
        for (const std::size_t bytes : sizes) from->deallocate(from->allocate(bytes), bytes);
    }
};

// Ends the program with status 1 unless every block is deallocated exactly once.
struct judged_upstream {
    headroom_test::counting_upstream counted;
    ~judged_upstream() {
        if (counted.blocks() != 0 || counted.mistakes() != 0) _exit(1);
    }
};

thread_local holder of_this_thread;
headroom_test::counting_upstream* upstream = nullptr;
synchronized_multipool_resource* pool = nullptr;

// Runs `end`, which makes static objects, in a child that returns from exit().
template <class End>
int at_the_end_of_a_program(End end) {
    return headroom_test::in_child([&] {
        alarm(20);
        static judged_upstream last;    // constructed first, so destroyed last
        upstream = &last.counted;
        end();
        std::exit(0);
        return 2;
    });
}

TEST(static_destruction, of_an_object_with_blocks_that_a_thread_allocated) {
    EXPECT_EQ(at_the_end_of_a_program([] {
                  static synchronized_multipool_resource resource(upstream);
                  static holder kept;
                  std::thread([] { kept.fill(resource); }).join();
              }),
              0);
}

TEST(static_destruction, of_a_resource_with_blocks_that_threads_kept) {
    EXPECT_EQ(at_the_end_of_a_program([] {
                  static synchronized_multipool_resource resource(upstream);
                  static holder ours, theirs;
                  ours.fill(resource);
                  std::thread([] { theirs.fill(resource); }).join();
                  std::thread([] { ours.empty(); }).join();
                  theirs.empty();
              }),
              0);
}

TEST(static_destruction, of_an_object_that_starts_a_thread) {
    EXPECT_EQ(at_the_end_of_a_program([] {
                  static synchronized_multipool_resource resource(upstream);
                  static holder kept;
                  static struct starter {
                      ~starter() {
                          std::thread([] {
                              kept.empty();
                              of_this_thread.fill(resource);
                          }).join();
                      }
                  } starts;
                  kept.fill(resource);
              }),
              0);
}

// The main thread's thread_local objects are destroyed before static ones.
TEST(static_destruction, comes_after_the_main_threads_variables) {
    EXPECT_EQ(at_the_end_of_a_program([] {
                  static synchronized_multipool_resource resource(upstream);
                  static holder kept;
                  of_this_thread.fill(resource);
                  std::thread([] {
                      of_this_thread.fill(resource);
                      kept.fill(resource);
                  }).join();
              }),
              0);
}

// A thread_local object of the program can be older than the resource's, and is then destroyed after the thread's cache.
TEST(static_destruction, of_a_resource_that_was_made_after_the_threads_variable) {
    EXPECT_EQ(at_the_end_of_a_program([] {
                  of_this_thread.from = nullptr;    // constructs it now
                  static synchronized_multipool_resource resource(upstream);
                  of_this_thread.fill(resource);
              }),
              0);
}

// A detached thread keeps running while static objects are destroyed. The resource that it uses is not destroyed.
TEST(static_destruction, beside_a_thread_that_goes_on) {
    EXPECT_EQ(headroom_test::in_child([] {
                  alarm(20);
                  static auto* const resource = new synchronized_multipool_resource;
                  pool = resource;
                  static holder kept;
                  kept.fill(*resource);
                  std::thread([] {
                      for (;;) {
                          holder some;
                          some.fill(*pool);
                      }
                  }).detach();
                  std::exit(0);
                  return 2;
              }),
              0);
}

// Resources without locks, and one resource over another.
TEST(static_destruction, of_resources_over_each_other) {
    EXPECT_EQ(at_the_end_of_a_program([] {
                  static headroom::tracking_resource counted(upstream);
                  static synchronized_multipool_resource outer(&counted);
                  static headroom::multipool_resource middle(&outer);
                  static headroom::monotonic_resource inner(&middle);
                  static std::pmr::vector<std::pmr::vector<int>> kept(&inner);
                  std::thread([] {
                      for (int i = 0; i < 100; ++i) kept.emplace_back(static_cast<std::size_t>(i), i);
                  }).join();
              }),
              0);
}

}    // namespace
