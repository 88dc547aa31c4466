// SPDX-License-Identifier: MIT
// Labels: thread no-valgrind
// Many threads append while others read: published elements are complete, in the order of each thread, and none is lost, whatever
// throws or is refused.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/testing.hpp>

#include "support/emulated.hpp"

namespace {

using headroom::concurrent_vector;
using headroom::max_elements;

// Records its thread and its index in that thread, and verifies both. Each type takes another path into the vector.
struct label {
    unsigned thread;
    unsigned number;
    [[nodiscard]] std::uint64_t sum() const { return std::uint64_t{thread} * 1'000'003U + number * 7U + 1U; }
};

struct trivial {
    trivial(unsigned t, unsigned n) : is{t, n}, check(is.sum()) {}
    [[nodiscard]] bool complete() const { return check == is.sum(); }
    label is;
    std::uint64_t check;
};
struct with_text {    // moved element by element
    with_text(unsigned t, unsigned n) : is{t, n}, text(std::to_string(is.sum()) + " and no room for more inside") {}
    [[nodiscard]] bool complete() const { return text == std::to_string(is.sum()) + " and no room for more inside"; }
    label is;
    std::string text;
};
struct boxed {    // relocated as bytes
    boxed(unsigned t, unsigned n) : is{t, n}, check(std::make_unique<std::uint64_t>(is.sum())) {}
    using headroom_is_trivially_relocatable = std::true_type;
    [[nodiscard]] bool complete() const { return check != nullptr && *check == is.sum(); }
    label is;
    std::unique_ptr<std::uint64_t> check;
};
struct in_place {    // cannot be moved
    in_place(unsigned t, unsigned n) : is{t, n}, self(this) {}
    in_place(const in_place&) = delete;
    in_place& operator=(const in_place&) = delete;
    [[nodiscard]] bool complete() const { return self == this; }
    label is;
    const in_place* self;
};

template <class T>
inline constexpr bool has_appender = !std::is_same_v<T, in_place>;

unsigned scaled(unsigned count) { return headroom_test::emulated() ? count / 10 : count; }

template <class Body>
void in_threads(unsigned count, Body body) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t) threads.emplace_back([&, t] { body(t); });
    for (auto& each : threads) each.join();
}

// Checks that all elements are complete, and those of each thread in order from 0 to `each`.
template <class T>
void expect_all(const concurrent_vector<T>& v, unsigned threads, unsigned each) {
    std::vector<unsigned> next(threads, 0);
    for (const T& element : v.published()) {
        ASSERT_TRUE(element.complete());
        ASSERT_LT(element.is.thread, threads);
        ASSERT_EQ(element.is.number, next[element.is.thread]++);
    }
    for (const unsigned count : next) EXPECT_EQ(count, each);
}

// Calls fill(appender), or fill(vector) for elements that no appender takes.
template <class T, class Fill>
void fill_by_appender(concurrent_vector<T>& v, std::size_t batch, const Fill& fill) {
    if constexpr (has_appender<T>) {
        typename concurrent_vector<T>::appender out(v, batch);
        fill(out);
    } else {
        fill(v);
    }
}

template <class T>
class threads_that_append : public testing::Test {};
using kinds = testing::Types<trivial, with_text, boxed, in_place>;
TYPED_TEST_SUITE(threads_that_append, kinds);

TYPED_TEST(threads_that_append, one_by_one_lose_nothing) {
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
        concurrent_vector<TypeParam> v;
        const unsigned each = scaled(4000);
        in_threads(threads, [&](unsigned t) {
            for (unsigned n = 0; n < each; ++n) {
                const std::size_t at = v.emplace_back(t, n);
                ASSERT_TRUE(v[at].is.thread == t && v[at].is.number == n) << "the index is another element's";
            }
        });
        expect_all(v, threads, each);
    }
}

TYPED_TEST(threads_that_append, by_batches_lose_nothing) {
    if constexpr (has_appender<TypeParam>) {
        for (const unsigned threads : {1U, 2U, 3U, 8U}) {
            for (const std::size_t batch : {1U, 10U, 500U}) {
                concurrent_vector<TypeParam> v;
                const unsigned each = scaled(3000);
                in_threads(threads, [&](unsigned t) {
                    typename concurrent_vector<TypeParam>::appender out(v, batch);
                    for (unsigned n = 0; n < each; ++n) out.emplace_back(t, n);
                });
                expect_all(v, threads, each);
            }
        }
    }
}

TYPED_TEST(threads_that_append, fill_the_vector_to_the_last_element) {
    // Exactly max_size() elements fit, whatever each thread claims.
    for (const unsigned threads : {2U, 8U}) {
        const unsigned each = scaled(1000);
        concurrent_vector<TypeParam> v(max_elements{std::size_t{threads} * each});
        std::atomic<unsigned> refused{0};
        in_threads(threads, [&](unsigned t) {
            const auto fill = [&](auto& out) {
                for (unsigned n = 0; n < each; ++n) out.emplace_back(t, n);
            };
            try {
                fill_by_appender(v, 100, fill);
            } catch (const std::length_error&) {
                ++refused;
            }
        });
        EXPECT_EQ(refused, 0U);
        expect_all(v, threads, each);
        EXPECT_THROW(v.emplace_back(0U, 0U), std::length_error);
    }
}

TYPED_TEST(threads_that_append, until_it_is_full_fill_it_exactly) {
    concurrent_vector<TypeParam> v(max_elements{scaled(5000)});
    std::atomic<unsigned> appended{0};
    in_threads(8, [&](unsigned t) {
        try {
            fill_by_appender(v, 300, [&](auto& out) {
                for (unsigned n = 0;; ++n, ++appended) out.emplace_back(t, n);
            });
        } catch (const std::length_error&) {}
    });
    EXPECT_EQ(appended, v.max_size());
    EXPECT_EQ(v.size(), v.max_size());
}

TYPED_TEST(threads_that_append, are_read_meanwhile_and_no_reader_meets_an_element_that_is_not_built) {
    concurrent_vector<TypeParam> v;
    const unsigned each = scaled(2500);
    constexpr unsigned writers = 8;
    std::atomic<std::uint64_t> read{0};
    std::atomic<bool> incomplete{false};
    std::vector<std::thread> readers;
    for (int r = 0; r < 2; ++r) {
        readers.emplace_back([&] {
            for (std::size_t seen = 0; seen != std::size_t{writers} * each;) {
                const auto there = v.published();
                // The new ones, and again the last old ones.
                for (std::size_t i = seen > 20 ? seen - 20 : 0; i != there.size(); ++i) {
                    if (!there[i].complete()) incomplete = true;
                }
                read += there.size() - seen;
                seen = there.size();
            }
        });
    }
    in_threads(writers, [&](unsigned t) {
        fill_by_appender(v, 1 + t * 10, [&](auto& out) {
            for (unsigned n = 0; n < each; ++n) out.emplace_back(t, n);
        });
    });
    for (auto& reader : readers) reader.join();
    EXPECT_FALSE(incomplete);
    EXPECT_EQ(read, std::uint64_t{2} * writers * each);
    expect_all(v, writers, each);
}

TYPED_TEST(threads_that_append, wake_whoever_waits) {
    concurrent_vector<TypeParam> v;
    const unsigned each = scaled(1000);
    std::vector<std::thread> waiting;
    std::atomic<unsigned> woken{0};
    for (std::size_t n = 1; n <= 4; ++n) {
        waiting.emplace_back([&, n] {
            for (std::size_t i = n; i <= 4 * std::size_t{each}; i += 4) {
                v.wait_for(i);
                if (!v[i - 1].complete()) return;
                ++woken;
            }
        });
    }
    in_threads(4, [&](unsigned t) {
        fill_by_appender(v, 3, [&](auto& out) {
            for (unsigned n = 0; n < each; ++n) out.emplace_back(t, n);
        });
    });
    for (auto& each_waiting : waiting) each_waiting.join();
    EXPECT_EQ(woken, 4 * each);
}

TEST(two_threads_that_wait_for_each_other, never_sleep_through_an_append) {
    concurrent_vector<int> there, back;
    const int rounds = static_cast<int>(scaled(3000));
    std::thread other([&] {
        for (int i = 0; i < rounds; ++i) {
            there.wait_for(static_cast<std::size_t>(i) + 1);
            back.push_back(there[static_cast<std::size_t>(i)]);
        }
    });
    for (int i = 0; i < rounds; ++i) {
        there.push_back(i);
        back.wait_for(static_cast<std::size_t>(i) + 1);
        ASSERT_EQ(back[static_cast<std::size_t>(i)], i);
    }
    other.join();
}

TEST(threads_that_append_ranges, leave_each_in_one_piece) {
    concurrent_vector<label> v;
    const unsigned rounds = scaled(500);
    in_threads(4, [&](unsigned t) {
        for (unsigned r = 0; r < rounds; ++r) {
            std::vector<label> mine;
            for (unsigned i = 0; i < 1 + r % 50; ++i) mine.push_back({t, i});
            const std::size_t at = v.append_range(mine);
            for (unsigned i = 0; i < mine.size(); ++i) {
                ASSERT_EQ(v[at + i].thread, t);
                ASSERT_EQ(v[at + i].number, i);
            }
        }
    });
}

// --- Exceptions and refusals.

// Construction number n over all threads throws.
struct fragile {
    static inline std::atomic<long> built{0}, live{0};
    static inline std::atomic<long> fails_at{0};

    fragile(unsigned t, unsigned n) : is{t, n} {
        if (++built == fails_at) throw std::runtime_error("planned");
        ++live;
    }
    fragile(fragile&& other) noexcept : is(other.is), moved(std::exchange(other.moved, true)) { ++live; }
    fragile& operator=(fragile&&) = delete;
    ~fragile() { --live; }
    [[nodiscard]] bool complete() const { return !moved; }
    label is;
    bool moved = false;
};

TEST(threads_that_append, meet_an_exception_at_every_point_and_leave_no_hole) {
    constexpr unsigned each = 12;
    for (const unsigned threads : {1U, 2U, 8U}) {
        for (long k = 1; k <= static_cast<long>(threads * each); ++k) {
            fragile::built = 0;
            fragile::fails_at = k;
            std::atomic<unsigned> thrown{0};
            {
                concurrent_vector<fragile> v;
                in_threads(threads, [&](unsigned t) {
                    concurrent_vector<fragile>::appender out(v, 5);
                    for (unsigned n = 0; n < each; ++n) {
                        try {
                            t % 2 == 0 ? out.emplace_back(t, n) : static_cast<void>(v.emplace_back(t, n));
                        } catch (const std::runtime_error&) {
                            ++thrown;
                        }
                    }
                });
                ASSERT_EQ(thrown, 1U);
                ASSERT_EQ(v.size(), threads * each - 1);
                for (const fragile& element : v) ASSERT_TRUE(element.complete());
            }
            ASSERT_EQ(fragile::live, 0);
        }
    }
    fragile::fails_at = 0;
}

TEST(threads_that_append, are_refused_memory_at_every_call_and_lose_nothing_that_was_published) {
    for (const unsigned threads : {1U, 3U, 8U}) {
        for (const auto then : {headroom::testing::afterwards::succeed, headroom::testing::afterwards::keep_failing}) {
            for (std::uint64_t k = 1; k < 40; ++k) {
                headroom::trim_cache();
                concurrent_vector<with_text> v(max_elements{100'000});
                std::vector<unsigned> appended(threads, 0);
                headroom::testing::fail_system_call(k, ENOMEM, then);
                in_threads(threads, [&](unsigned t) {
                    try {
                        concurrent_vector<with_text>::appender out(v, 20);
                        for (unsigned n = 0; n < 300; ++n) {
                            out.emplace_back(t, n);
                            ++appended[t];
                        }
                    } catch (const std::bad_alloc&) {}
                });
                headroom::testing::stop_failing();
                std::vector<unsigned> found(threads, 0);
                for (const with_text& element : v) {
                    ASSERT_TRUE(element.complete());
                    ASSERT_EQ(element.is.number, found[element.is.thread]++);
                }
                ASSERT_EQ(found, appended);
                v.emplace_back(0U, 0U);    // and it can go on
            }
        }
    }
}

TEST(a_thread_that_appends_alone, may_be_joined_by_others_at_any_time) {
    // A single thread appends without an atomic exchange until another one comes.
    for (unsigned round = 0; round < scaled(200); ++round) {
        concurrent_vector<label> v;
        const unsigned each = 200 + round;
        in_threads(3, [&](unsigned t) {
            for (unsigned n = 0; n < each; ++n) v.push_back({t, n});
        });
        std::vector<unsigned> next(3, 0);
        for (const label& element : v) ASSERT_EQ(element.number, next[element.thread]++);
        ASSERT_EQ(v.size(), 3U * each);
    }
}

}    // namespace
