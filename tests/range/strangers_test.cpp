// SPDX-License-Identifier: MIT
// Another thread releases the idle memory behind a live range while its owner grows, shrinks, moves, forks or is protected.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/emulated.hpp"
#include "support/sanitizers.hpp"
#include "system/in_child.hpp"

namespace {

using headroom_test::times;

constexpr std::size_t MiB = std::size_t{1} << 20;

struct ahead : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead(8 * MiB);
};
struct page_wise : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};

// Releases idle memory again and again, as other owners and trim_cache() do, until it is destroyed.
class stranger {
public:
    stranger()
        : thread_([this] {
              for (unsigned i = 0; !stop_; ++i) {
                  headroom::trim_cache();
                  if (i % 8 == 0) headroom::set_cache_limit(i % 16 == 0 ? MiB : 64 * MiB);
              }
          }) {}
    ~stranger() {
        stop_ = true;
        thread_.join();
    }
    stranger(const stranger&) = delete;
    stranger& operator=(const stranger&) = delete;

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// Leaves a range with `bytes` of memory for the next owner.
void leave_memory(std::size_t bytes) { headroom::settled_vector<char>(bytes, 'm'); }

template <class Vector>
bool holds(const Vector& all, std::size_t tag) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] != tag + i) return false;
    }
    return true;
}
template <class Vector>
void grow(Vector& to, std::size_t tag, std::size_t size) {
    while (to.size() < size) to.push_back(tag + to.size());
}

// Random operations on a vector of its own; the number of rounds after which its elements were wrong.
template <class Vector>
int wrong_rounds(unsigned seed, int rounds) {
    std::mt19937 random(seed);
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        leave_memory(2 * MiB);
        const std::size_t tag = random();
        Vector own;
        for (int i = 0; i < 12; ++i) {
            const unsigned what = random() % 8;
            if (what < 4) grow(own, tag, own.size() + random() % 60'000);
            if (what == 4) own.resize(own.size() / 2);
            if (what == 5) own.shrink_to_fit();
            if (what == 6) {
                Vector other(std::move(own));
                own = std::move(other);
            }
            if constexpr (requires { own.protect(headroom::access::read_only); }) {
                if (what == 7) {
                    own.protect(headroom::access::read_only);
                    wrong += !holds(own, tag);
                    own.protect(headroom::access::read_write);
                }
            }
            wrong += !holds(own, tag);
        }
    }
    return wrong;
}

struct strangers : testing::Test {
    void TearDown() override {
        headroom::set_cache_limit(64 * MiB);
        headroom::trim_cache();
        EXPECT_EQ(headroom::cached_bytes(), 0u) << "no owner is left";
    }
};

TEST_F(strangers, leave_an_owners_elements_alone) {
    const stranger other;
    std::atomic<int> wrong{0};
    const int rounds = times(20, 2);
    std::vector<std::thread> owners;
    owners.emplace_back([&] { wrong += wrong_rounds<headroom::settled_vector<std::size_t>>(1, rounds); });
    owners.emplace_back([&] { wrong += wrong_rounds<headroom::vector<std::size_t>>(2, rounds); });
    owners.emplace_back([&] { wrong += wrong_rounds<headroom::settled_vector<std::size_t, ahead>>(3, rounds); });
    owners.emplace_back([&] { wrong += wrong_rounds<headroom::settled_vector<std::size_t, page_wise>>(4, rounds); });
    for (std::thread& each : owners) each.join();
    EXPECT_EQ(wrong, 0);
}

TEST_F(strangers, leave_blocks_of_resources_alone) {
    const stranger other;
    int wrong = 0;
    for (int round = 0; round < times(60, 4); ++round) {
        leave_memory(3 * MiB);
        headroom::multipool_resource pool;
        headroom::arena memory;
        std::vector<std::pair<unsigned char*, std::size_t>> blocks;
        for (std::size_t i = 0; i < 400; ++i) {
            const std::size_t bytes = 16 + i * 37 % 9000;
            auto* const block = static_cast<unsigned char*>(i % 2 == 0 ? pool.allocate(bytes, 8) : memory.allocate(bytes, 8));
            std::memset(block, static_cast<int>(i % 251), bytes);
            blocks.emplace_back(block, bytes);
        }
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            wrong += blocks[i].first[0] != i % 251 || blocks[i].first[blocks[i].second - 1] != i % 251;
        }
    }
    EXPECT_EQ(wrong, 0);
}

TEST_F(strangers, leave_a_concurrent_vectors_elements_alone) {
    const stranger other;
    for (int round = 0; round < times(6, 1); ++round) {
        leave_memory(6 * MiB);
        headroom::concurrent_vector<std::size_t> all;
        std::vector<std::thread> writers;
        for (std::size_t t = 0; t < 3; ++t) {
            writers.emplace_back([&, t] {
                for (std::size_t i = 0; i < 100'000; ++i) all.push_back(t << 32 | i);
            });
        }
        for (std::thread& each : writers) each.join();
        std::size_t next[3] = {};
        for (const std::size_t each : all) {
            ASSERT_EQ(each & 0xffffffff, next[each >> 32]);
            ++next[each >> 32];
        }
    }
}

TEST_F(strangers, leave_a_small_owner_that_comes_and_goes_alone) {
    const stranger other;
    std::atomic<int> wrong{0};
    std::vector<std::thread> owners;
    for (std::size_t t = 0; t < 3; ++t) {
        owners.emplace_back([&, t] {
            for (int i = 0; i < times(3000, 100); ++i) {
                if (i % 50 == 0) leave_memory(MiB);
                headroom::settled_vector<std::size_t> own;
                grow(own, t * 1000, i % 50 == 7 ? 20'000 : 10);
                wrong += !holds(own, t * 1000);
            }
        });
    }
    for (std::thread& each : owners) each.join();
    EXPECT_EQ(wrong, 0);
}

TEST_F(strangers, may_be_at_work_while_the_process_forks) {
    if (headroom_test::thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer does not follow a fork of several threads";
    const stranger other;
    for (int round = 0; round < times(60, 4); ++round) {
        leave_memory(4 * MiB);
        headroom::settled_vector<std::size_t> own;
        grow(own, 5, 1000);
        EXPECT_EQ(headroom_test::in_child([&] {
                      grow(own, 5, 600'000);
                      headroom::settled_vector<std::size_t> made;
                      grow(made, 6, 100'000);
                      headroom::trim_cache();
                      return holds(own, 5) && holds(made, 6) ? 0 : 1;
                  }),
                  0);
        grow(own, 5, 300'000);
        EXPECT_TRUE(holds(own, 5));
    }
}

// Its constructor releases idle memory, and from there on the system permits nothing. Populating may fail so.
struct trimming {
    std::size_t value = 7;
    trimming() {
        if (++made != 1000) return;
        headroom::trim_cache();
        headroom::testing::fail_system_call(1, EPERM, headroom::testing::afterwards::keep_failing);
    }
    static inline int made = 0;
};

TEST_F(strangers, leave_what_an_owner_is_charged_for) {
    const auto grow_charged = [](auto& to) {
        trimming::made = 0;
        EXPECT_NO_THROW(to.resize(to.size() + 700'000)) << "refused after it was charged";
        headroom::testing::stop_failing();
        for (const trimming& each : to) ASSERT_EQ(each.value, 7u);
    };
    headroom::set_cache_limit(64 * MiB);
    leave_memory(4 * MiB);    // less than they grow to
    headroom::settled_vector<trimming> settled(10);
    grow_charged(settled);
    leave_memory(4 * MiB);
    headroom::vector<trimming> moving(200'000);
    grow_charged(moving);
}

TEST_F(strangers, leave_a_page_larger_than_the_first_commit_alone) {
    EXPECT_EQ(headroom_test::in_child([] {
                  headroom::trim_cache();
                  headroom::testing::pretend_page_size(std::size_t{256} << 10);
                  headroom::set_cache_limit(64 * MiB);
                  leave_memory(4 * MiB);
                  headroom::settled_vector<std::size_t> own;
                  grow(own, 3, 5000);
                  headroom::trim_cache();
                  return holds(own, 3) ? 0 : 1;
              }),
              0);
}

struct odd_steps : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::balanced(20'000, 100'000, 300'000);
};
struct odd_huge : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::huge_pages(100'000);
};
template <class Policy>
void grows_in_whole_pages() {
    headroom::set_cache_limit(64 * MiB);
    for (int life = 0; life < 2; ++life) {
        leave_memory(4 * MiB);
        headroom::settled_vector<std::size_t, Policy> own;
        for (std::size_t size = 1000; size < 60'000; size += 1000) {
            grow(own, 4, size);
            headroom::trim_cache();
            ASSERT_TRUE(holds(own, 4)) << size;
        }
    }
}
TEST_F(strangers, leave_pages_alone_of_a_policy_whose_figures_are_no_whole_pages) {
    grows_in_whole_pages<odd_steps>();
    grows_in_whole_pages<odd_huge>();
}

// The system refuses the k-th call, or all from there on, while memory behind a live range is released; then the owner goes on.
TEST_F(strangers, leave_elements_alone_where_the_system_refuses) {
    for (const bool all_later : {false, true}) {
        for (unsigned k = 1; k <= 12; ++k) {
            headroom::set_cache_limit(64 * MiB);
            headroom::trim_cache();
            leave_memory(4 * MiB);
            leave_memory(3 * MiB);
            headroom::settled_vector<std::size_t> own;
            grow(own, 9, 20'000);
            headroom::testing::fail_system_call(
                k, ENOMEM, all_later ? headroom::testing::afterwards::keep_failing : headroom::testing::afterwards::succeed);
            headroom::trim_cache();
            try {
                grow(own, 9, 400'000);
            } catch (const std::bad_alloc&) {}
            const std::size_t there = own.size();
            headroom::testing::stop_failing();
            EXPECT_TRUE(holds(own, 9)) << k;
            grow(own, 9, there + 100'000);
            EXPECT_TRUE(holds(own, 9)) << k;
        }
    }
}

}    // namespace
