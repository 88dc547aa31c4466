// SPDX-License-Identifier: MIT
// Loops whose rounds are equal are warm from the fourth round on: no page fault and no system call, whatever the containers and sizes.
// Each program runs in a process of its own, so that none is warm from another.
// Labels: linux posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <malloc.h>
#include <sys/resource.h>

#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "support/emulated.hpp"
#include "support/sanitizers.hpp"
#include "support/warm_programs.hpp"
#include "system/in_child.hpp"

namespace {

using namespace headroom_test;

#if defined(HEADROOM_HARDENED)
constexpr bool ranges_rest = true;
#else
constexpr bool ranges_rest = false;
#endif

long page_faults() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

// So that only the library's own memory comes and goes.
void keep_heap() {
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
}

struct cost {
    long faults;
    std::uint64_t calls;
};

// Returns the cost of the `last` round of several.
template <class Round>
cost cost_of_round(int last, Round round) {
    (void)source(1);
    for (int i = 1; i < last; ++i) round();
    const long before = page_faults();
    headroom::testing::count_system_calls();
    round();
    const std::uint64_t calls = headroom::testing::stop_failing();
    return {page_faults() - before, calls};
}

constexpr long unrelated_faults = 4;

// True if the round is warm from the fourth on.
template <class Round>
bool is_warm(Round round) {
    return in_child([&] {
               keep_heap();
               const cost fourth = cost_of_round(4, round);
               return fourth.calls == 0 && fourth.faults <= unrelated_faults ? 0 : 1;
           }) == 0;
}

struct warm_loops : testing::Test {
    void SetUp() override {
        if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
        if (emulated()) GTEST_SKIP() << "the emulator has page faults of its own";
        if (sanitizer_needs_memory) GTEST_SKIP() << "warm memory is hidden from its next owner";
        if (headroom::cache_limit() < 64 * MiB) GTEST_SKIP() << "the group of this process may have little memory";
    }
};

TEST_F(warm_loops, of_each_way_to_build_each_container) {
    for (const kind which : all_kinds) {
        for (const way how : all_ways) {
            if (!is_vector(which) && how != way::push) continue;
            for (const std::size_t bytes : {100 * KiB, 1200 * KiB, 12'000 * KiB}) {
                EXPECT_TRUE(is_warm([&] { run_all({{which, how, bytes, false}}); }))
                    << static_cast<int>(which) << ' ' << static_cast<int>(how) << ' ' << bytes;
            }
        }
    }
}

TEST_F(warm_loops, of_pieces_of_any_size) {
    for (const std::size_t piece : {KiB, 30 * KiB, 100 * KiB, MiB, 4 * MiB}) {
        EXPECT_TRUE(is_warm([&] {
            headroom::vector<line> one;
            append_pieces(one, 12 * MiB / sizeof(line), piece / sizeof(line));
        })) << piece;
        EXPECT_TRUE(is_warm([&] {
            headroom::settled_vector<line> one;
            append_pieces(one, 12 * MiB / sizeof(line), piece / sizeof(line));
        })) << piece;
    }
}

TEST_F(warm_loops, of_any_two_kinds_in_turn_and_nested) {
    for (const kind first : all_kinds) {
        for (const kind second : all_kinds) {
            for (const bool nested : {false, true}) {
                const std::vector<step> steps{{first, way::push, 4 * MiB, nested}, {second, way::push, 3 * MiB, false}};
                EXPECT_TRUE(is_warm([&] { run_all(steps); }))
                    << static_cast<int>(first) << ' ' << static_cast<int>(second) << ' ' << nested;
            }
        }
    }
}

TEST_F(warm_loops, of_any_two_sizes_in_turn_and_nested) {
    const std::size_t sizes[] = {16, 5000, 300 * KiB, 2 * MiB, 20 * MiB, 56 * MiB};
    for (const std::size_t first : sizes) {
        for (const std::size_t second : sizes) {
            if (first + second > 60 * MiB) continue;
            for (const kind which : {kind::vector, kind::settled}) {
                const std::vector<step> steps{{which, way::resize, first, first < 4 * MiB}, {which, way::push, second, false}};
                EXPECT_TRUE(is_warm([&] { run_all(steps); })) << static_cast<int>(which) << ' ' << first << ' ' << second;
            }
        }
    }
}

TEST_F(warm_loops, of_vectors_of_known_sizes_alive_at_once_and_dropped_in_any_order) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        std::mt19937 random(seed);
        std::vector<std::size_t> sizes{100 * KiB,  200 * KiB,  400 * KiB,  900 * KiB,
                                       1800 * KiB, 3500 * KiB, 7000 * KiB, 14'000 * KiB};
        std::shuffle(sizes.begin(), sizes.end(), random);
        sizes.resize(seed % 3 == 0 ? 8 : seed % 3 == 1 ? 4 : 2);
        std::vector<std::size_t> order(sizes.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        EXPECT_TRUE(is_warm([&] {
            std::vector<headroom::settled_vector<char>> all;
            for (const std::size_t each : sizes) all.emplace_back(each);
            for (const std::size_t each : order) all[each] = {};
        })) << seed;
    }
}

// Where ranges of unlike sizes change places each round, a loop can stay cold: a request does not say how much it will want.
TEST_F(warm_loops, of_random_steps_but_for_a_few) {
    int cold = 0, all = 0;
    for (unsigned length = 1; length <= 5; ++length) {
        for (unsigned seed = 0; seed < 150; ++seed, ++all) {
            std::mt19937 random(length * 1000 + seed);
            std::vector<step> steps;
            for (unsigned i = 0; i < length; ++i) {
                const double exponent = std::uniform_real_distribution<>(4, 23.58)(random);
                const auto which = all_kinds[random() % std::size(all_kinds)];
                const auto how = all_ways[random() % std::size(all_ways)];
                steps.push_back({which, how, static_cast<std::size_t>(std::exp2(exponent)), random() % 2 == 0});
            }
            cold += in_child([&] {
                        keep_heap();
                        const cost seventh = cost_of_round(7, [&] { run_all(steps); });
                        return seventh.calls == 0 && seventh.faults <= unrelated_faults ? 0 : 1;
                    }) != 0;
        }
    }
    RecordProperty("cold", cold);
    EXPECT_LE(cold, all / 25);
}

TEST_F(warm_loops, of_several_threads) {
    for (const int count : {2, 4}) {
        for (const std::size_t bytes : {400 * KiB, 4 * MiB}) {
            const int status = in_child([&] {
                keep_heap();
                const auto rounds = [bytes](int times) {
                    for (int i = 0; i < times; ++i) run_all({{kind::settled, way::push, bytes, false}});
                };
                const auto on_threads = [&](int times) {
                    std::vector<std::thread> all;
                    for (int t = 0; t < count; ++t) all.emplace_back(rounds, times);
                    for (std::thread& each : all) each.join();
                };
                on_threads(20);
                const long before = page_faults();
                on_threads(50);
                // What is warm is shared: a thread may find another's vector not yet dropped, but seldom.
                const auto pages = static_cast<long>(bytes / 4096) * count * 50;
                return page_faults() - before <= pages / 20 + 100 ? 0 : 1;
            });
            EXPECT_EQ(status, 0) << count << ' ' << bytes;
        }
    }
}

}    // namespace
