// SPDX-License-Identifier: MIT
// [container.requirements.general], [vector.capacity], [vector.modifiers]: exception safety when an element, an iterator or the
// allocator throws.
//
// Each test repeats one operation and lets step 1 throw, then step 2, ... until none does. A step is a construction, copy,
// assignment or throwing move of an element, or a move of a test iterator. Strong guarantee: the container is unchanged. Basic:
// it holds whole elements and is usable. Neither leaks.
#include <functional>
#include <iterator>
#include <vector>

#include <headroom/reservation.hpp>

#include "support/contract/contract.hpp"
#include "support/emulated.hpp"

namespace {

using headroom_test::append;
using headroom_test::book;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::full;
using headroom_test::make;
using headroom_test::numbers;
using headroom_test::numbers_list;
using headroom_test::open_book;

enum class promise { basic, strong };

// False if the compiler leaks the first elements of an initializer list when a later one throws, of std::vector's too.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
inline constexpr bool lists_destroy_their_elements = false;
#else
inline constexpr bool lists_destroy_their_elements = true;
#endif

// Returns the next step to fail after step k. Under QEMU, where an operation can have thousands of slow steps, only the first 200
// are all failed, and later ones every 2 %.
inline long step_after(long k) { return headroom_test::emulated() && k > 200 ? k + k / 50 : k + 1; }

// Runs `operation` on a fresh container from `prepare` with each step failing in turn. Returns the number of steps. std::function
// keeps hundreds of instantiations small.
template <class Container>
long fail_steps(promise promised, const std::function<Container()>& prepare, const std::function<void(Container&)>& operation) {
    for (long k = 1;; k = step_after(k)) {
        // A cached range has capacity for many elements: filling a container over one would take minutes.
        headroom::trim_cache();
        Container container = prepare();
        const numbers_list before = numbers(container);
        const std::size_t capacity = container.capacity();
        const auto* const where = container.data();
        bool thrown = false;
        open_book(k);
        try {
            operation(container);
        } catch (const headroom_test::planned_failure&) {
            thrown = true;
        }
        const long steps = book.steps;
        open_book();
        if (steps < k) {
            EXPECT_FALSE(thrown);
            return steps;
        }
        SCOPED_TRACE("step " + std::to_string(k) + " threw");
        if (promised == promise::strong) {
            EXPECT_TRUE(thrown) << "a failure was swallowed";
            EXPECT_EQ(numbers(container), before);
            // Capacity gained before the throw may stay; pointers into the container must stay valid.
            EXPECT_EQ(container.data(), where);
            EXPECT_GE(container.capacity(), capacity);
        } else {
            EXPECT_LE(container.size(), container.capacity());
            (void)numbers(container);
        }
        // The container is still usable: it grows, shrinks, and holds new elements.
        append(container, 3, 900);
        container.clear();
        append(container, 20);
        EXPECT_EQ(numbers(container), counted(20));
        if (testing::Test::HasFailure()) return steps;
    }
}
template <class Prepare, class Operation>
long fail_each_step(promise promised, const Prepare& prepare, const Operation& operation) {
    return fail_steps<decltype(prepare())>(promised, prepare, operation);
}

template <class Container>
class exceptions_in : public contract<Container> {};
TYPED_TEST_SUITE(exceptions_in, subjects);

// Returns a function that makes the start state: a full container, or one with capacity for 40 more.
template <class Container>
std::function<Container()> starts(bool tight) {
    if (tight) return [] { return full<Container>(8); };
    return [] { return headroom_test::roomy<Container>(8, 40); };
}

TYPED_TEST(exceptions_in, push_back_is_strong) {
    using T = typename TypeParam::value_type;
    const T value = make<T>(7);
    for (const bool tight : {false, true}) {
        const long steps = fail_each_step(promise::strong, starts<TypeParam>(tight), [&](TypeParam& v) { v.push_back(value); });
        EXPECT_GE(steps, 1);
    }
}

TYPED_TEST(exceptions_in, emplace_back_is_strong) {
    for (const bool tight : {false, true}) {
        const long steps = fail_each_step(promise::strong, starts<TypeParam>(tight), [&](TypeParam& v) { v.emplace_back(7); });
        EXPECT_GE(steps, 1);
    }
}

TYPED_TEST(exceptions_in, insert_of_one_at_the_end_is_strong) {
    using T = typename TypeParam::value_type;
    const T value = make<T>(7);
    for (const bool tight : {false, true}) {
        fail_each_step(promise::strong, starts<TypeParam>(tight), [&](TypeParam& v) { v.insert(v.end(), value); });
        fail_each_step(promise::strong, starts<TypeParam>(tight), [&](TypeParam& v) { v.emplace(v.end(), 7); });
    }
}

TYPED_TEST(exceptions_in, reserve_is_strong) {
    fail_each_step(promise::strong, starts<TypeParam>(true), [](TypeParam& v) { v.reserve(v.capacity() + 1); });
}

TYPED_TEST(exceptions_in, resize_is_strong) {
    using T = typename TypeParam::value_type;
    const T value = make<T>(7);
    for (const bool tight : {false, true}) {
        long steps = fail_each_step(promise::strong, starts<TypeParam>(tight), [](TypeParam& v) { v.resize(v.size() + 5); });
        EXPECT_GE(steps, 5);
        steps = fail_each_step(promise::strong, starts<TypeParam>(tight), [&](TypeParam& v) { v.resize(v.size() + 5, value); });
        EXPECT_GE(steps, 5);
    }
}

TYPED_TEST(exceptions_in, shrink_to_fit_keeps_the_elements) {
    using T = typename TypeParam::value_type;
    const auto prepare = [] { return headroom_test::roomy<TypeParam>(8, (std::size_t{1} << 18) / sizeof(T)); };
    fail_each_step(promise::basic, prepare, [](TypeParam& v) {
        try {
            v.shrink_to_fit();
        } catch (const headroom_test::planned_failure&) {}
        EXPECT_EQ(numbers(v), counted(8));
    });
}

TYPED_TEST(exceptions_in, insert_of_one_is_basic) {
    using T = typename TypeParam::value_type;
    const T value = make<T>(7);
    for (const bool tight : {false, true}) {
        for (const std::size_t quarter : {0U, 2U, 3U}) {
            const auto at = [quarter](TypeParam& v) { return nth(v, v.size() * quarter / 4); };
            fail_each_step(promise::basic, starts<TypeParam>(tight), [&](TypeParam& v) { v.insert(at(v), value); });
            fail_each_step(promise::basic, starts<TypeParam>(tight), [&](TypeParam& v) { v.insert(at(v), T(7)); });
            fail_each_step(promise::basic, starts<TypeParam>(tight), [&](TypeParam& v) { v.emplace(at(v), 7); });
            fail_each_step(promise::basic, starts<TypeParam>(tight), [&](TypeParam& v) { v.insert(at(v), v[1]); });
        }
    }
}

TYPED_TEST(exceptions_in, insert_of_copies_is_basic) {
    using T = typename TypeParam::value_type;
    const T value = make<T>(7);
    for (const bool tight : {false, true}) {
        for (const std::size_t quarter : {0U, 2U, 4U}) {
            for (const std::size_t count : {1U, 3U, 12U}) {
                fail_each_step(promise::basic, starts<TypeParam>(tight),
                               [&](TypeParam& v) { v.insert(nth(v, v.size() * quarter / 4), count, value); });
            }
        }
    }
}

TYPED_TEST(exceptions_in, insert_of_a_forward_range_is_basic) {
    using T = typename TypeParam::value_type;
    for (const std::size_t count : {3U, 12U}) {
        const headroom_test::forward_range<T> source(counted(count, 500));
        for (const bool tight : {false, true}) {
            for (const std::size_t quarter : {0U, 2U, 4U}) {
                fail_each_step(promise::basic, starts<TypeParam>(tight),
                               [&](TypeParam& v) { v.insert(nth(v, v.size() * quarter / 4), source.begin(), source.end()); });
            }
        }
    }
}

// An increment that throws between two elements must not leak one: see increments_may_throw.
TYPED_TEST(exceptions_in, an_increment_that_throws_loses_no_element) {
    using T = typename TypeParam::value_type;
    if (std::is_same_v<TypeParam, std::vector<T>>) GTEST_SKIP() << "libstdc++ 12 leaks an element here";
    const headroom_test::forward_range<T> source(counted(6, 500));
    headroom_test::increments_may_throw = true;
    for (const bool tight : {false, true}) {
        const auto prepare = starts<TypeParam>(tight);
        fail_each_step(promise::basic, prepare, [&](TypeParam& v) { v.assign(source.begin(), source.end()); });
        for (const std::size_t quarter : {0U, 2U, 4U}) {
            fail_each_step(promise::basic, prepare,
                           [&](TypeParam& v) { v.insert(nth(v, v.size() * quarter / 4), source.begin(), source.end()); });
        }
    }
    const auto nothing = [] { return TypeParam(); };
    fail_each_step(promise::strong, nothing, [&](TypeParam&) { const TypeParam v(source.begin(), source.end()); });
    headroom_test::increments_may_throw = false;
}

TYPED_TEST(exceptions_in, insert_of_a_single_pass_range_is_basic) {
    using T = typename TypeParam::value_type;
    for (const bool tight : {false, true}) {
        for (const std::size_t quarter : {0U, 2U, 4U}) {
            fail_each_step(promise::basic, starts<TypeParam>(tight), [&](TypeParam& v) {
                const long k = book.fail_at;
                open_book();
                headroom_test::old_input_range<T> source(counted(12, 500));
                open_book(k);
                v.insert(nth(v, v.size() * quarter / 4), source.begin(), source.end());
            });
        }
    }
}

TYPED_TEST(exceptions_in, append_of_a_single_pass_range_is_strong) {
    if constexpr (requires(TypeParam v, headroom_test::old_input_range<typename TypeParam::value_type> r) {
                      v.append_range(r);
                  }) {
        for (const bool tight : {false, true}) {
            const long steps = fail_each_step(promise::strong, starts<TypeParam>(tight), [&](TypeParam& v) {
                const long k = book.fail_at;
                open_book();
                headroom_test::old_input_range<typename TypeParam::value_type> source(counted(60, 500));
                open_book(k);
                v.append_range(source);
            });
            EXPECT_GE(steps, 60);
        }
    } else {
        GTEST_SKIP() << "has no append_range";
    }
}

TYPED_TEST(exceptions_in, erase_is_basic) {
    for (const std::size_t first : {0U, 3U}) {
        fail_each_step(promise::basic, starts<TypeParam>(false), [&](TypeParam& v) { v.erase(nth(v, first)); });
        fail_each_step(promise::basic, starts<TypeParam>(false),
                       [&](TypeParam& v) { v.erase(nth(v, first), nth(v, first + 2)); });
    }
}

// Erasing at the end moves nothing and so must not throw.
TYPED_TEST(exceptions_in, erase_at_the_end_does_not_throw) {
    TypeParam v = filled<TypeParam>(8);
    open_book(1);
    v.erase(v.begin() + 5, v.end());
    v.erase(v.end() - 1);
    v.pop_back();
    v.clear();
    open_book();
    EXPECT_TRUE(v.empty());
}

// A constructor that throws destroys only the elements that it built. The predecessor of settled_vector destroys more.
TYPED_TEST(exceptions_in, a_constructor_that_fails_destroys_what_it_built) {
    using T = typename TypeParam::value_type;
    const TypeParam source = filled<TypeParam>(6);
    const T value = make<T>(7);
    const headroom_test::forward_range<T> forward(counted(6));
    const auto nothing = [] { return TypeParam(); };
    EXPECT_GE(fail_each_step(promise::strong, nothing, [&](TypeParam&) { const TypeParam v(6); }), 6);
    EXPECT_GE(fail_each_step(promise::strong, nothing, [&](TypeParam&) { const TypeParam v(6, value); }), 6);
    EXPECT_GE(fail_each_step(promise::strong, nothing, [&](TypeParam&) { const TypeParam v(source); }), 6);
    EXPECT_GE(fail_each_step(promise::strong, nothing, [&](TypeParam&) { const TypeParam v(forward.begin(), forward.end()); }),
              6);
    if (lists_destroy_their_elements) {
        EXPECT_GE(fail_each_step(promise::strong, nothing, [&](TypeParam&) { const TypeParam v{T(1), T(2), T(3)}; }), 6);
    }
    EXPECT_GE(fail_each_step(promise::strong, nothing,
                             [&](TypeParam&) {
                                 const long k = book.fail_at;
                                 open_book();
                                 headroom_test::old_input_range<T> once(counted(12));
                                 open_book(k);
                                 const TypeParam v(once.begin(), once.end());
                             }),
              12);
}

// Copy assignment gives the basic guarantee. rvector frees twice when a copy throws.
TYPED_TEST(exceptions_in, copy_assignment_is_basic) {
    for (const std::size_t before : {0U, 3U, 30U}) {
        for (const std::size_t count : {6U, 100U}) {
            const TypeParam source = filled<TypeParam>(count);
            fail_each_step(promise::basic, [before] { return filled<TypeParam>(before); }, [&](TypeParam& v) { v = source; });
        }
    }
}

TYPED_TEST(exceptions_in, assign_is_basic) {
    using T = typename TypeParam::value_type;
    const T value = make<T>(7);
    const headroom_test::forward_range<T> forward(counted(12, 500));
    for (const std::size_t before : {0U, 3U, 30U}) {
        const auto prepare = [before] { return filled<TypeParam>(before); };
        fail_each_step(promise::basic, prepare, [&](TypeParam& v) { v.assign(12, value); });
        fail_each_step(promise::basic, prepare, [&](TypeParam& v) { v.assign(forward.begin(), forward.end()); });
        if (lists_destroy_their_elements) fail_each_step(promise::basic, prepare, [&](TypeParam& v) { v = {T(1), T(2), T(3)}; });
        fail_each_step(promise::basic, prepare, [&](TypeParam& v) {
            const long k = book.fail_at;
            open_book();
            headroom_test::old_input_range<T> once(counted(12, 500));
            open_book(k);
            v.assign(once.begin(), once.end());
        });
    }
}

}    // namespace
