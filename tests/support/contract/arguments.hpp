// SPDX-License-Identifier: MIT
// The contract of emplacing. The constructor gets the caller's own argument: same address, same value category, and its changes
// are visible to the caller. It runs once, at the element's final place, and sees the container as it was before.
//
// `subjects` are families of containers: `of<T>` is the container of T, `takes<T>` is true if it can hold T.
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <headroom/relocatable.hpp>

#include "support/contract/families.hpp"

namespace argument_kinds {

// Records the last constructor call.
struct seen {
    const volatile void* argument = nullptr;
    const void* self = nullptr;
    bool temporary = false;
    int runs = 0;
};
inline seen last;
template <class Argument>
void note(const void* self, Argument& argument, bool temporary) noexcept {
    last = {std::addressof(argument), self, temporary, last.runs + 1};
}

// Checks that element i was built by one constructor call, from `argument`, at its final place. No template: used for hundreds of
// kinds.
inline void expect_built(int i, const volatile void* argument, bool temporary, const void* place, const void* expected_place,
                         bool changed) {
    ASSERT_EQ(last.argument, argument) << "element " << i << " was made from another object";
    ASSERT_EQ(last.runs, 1) << "element " << i;
    ASSERT_EQ(last.temporary, temporary) << "element " << i;
    ASSERT_EQ(last.self, place) << "element " << i << " was made elsewhere";
    ASSERT_EQ(place, expected_place);
    ASSERT_TRUE(changed) << "element " << i;
}

// One overload by value and one by reference, which changes its argument. Adds `Bytes` of ballast.
template <class Number, std::size_t Bytes = 8, bool Throws = false>
struct of_reference {
    explicit of_reference(long double) noexcept(!Throws) { last = {}; }
    explicit of_reference(Number& number) noexcept(!Throws) {
        note(this, number, false);
        number = Number{};
    }
    std::array<unsigned char, Bytes> ballast{};
};
// Takes lvalues and temporaries by different overloads, although the value would do.
template <class Number, std::size_t Bytes = 8>
struct of_either {
    explicit of_either(const Number& number) noexcept { note(this, number, false); }
    explicit of_either(Number&& number) noexcept { note(this, number, true); }
    std::array<unsigned char, Bytes> ballast{};
};
enum class colour : std::uint8_t { none, red, green };
enum plain_colour { no_colour, blue, yellow };

// Moves its content out of the argument.
template <class Given, bool Opted>
struct of_given {
    explicit of_given(Given&& given) noexcept : held(std::move(given)) { note(this, given, true); }
    of_given(of_given&&) noexcept = default;
    of_given& operator=(of_given&&) noexcept = default;
    ~of_given() = default;
    using headroom_is_trivially_relocatable = std::bool_constant<Opted>;
    Given held;
};
// Opted into relocation, and owns a block.
struct owner {
    explicit owner(int& number) noexcept : held(new int(number)) {
        note(this, number, false);
        number = 0;
    }
    owner(owner&&) noexcept = default;
    owner& operator=(owner&&) noexcept = default;
    ~owner() = default;
    using headroom_is_trivially_relocatable = owner;
    std::unique_ptr<int> held;
};

}    // namespace argument_kinds

template <class Family>
class arguments_of : public testing::Test {
protected:
    // Builds elements from make(i) in every way of emplacing, through many growths. `Temporary`: passes the argument as an
    // rvalue.
    template <class T, bool Temporary, class Make, class Changed>
    void keep_their_identity(Make make, Changed changed) {
        using argument_kinds::last;
        if constexpr (Family::template takes<T>) {
            for (int way = 0; way != 5; ++way) {
                SCOPED_TRACE(way);
                auto own = Family::template make<T>();
                auto& v = own.get();
                for (int i = 0; i != 700; ++i) {
                    auto argument = make(i + 1);
                    using given = std::conditional_t<Temporary, decltype(argument)&&, decltype(argument)&>;
                    last = {};
                    const T* place = nullptr;
                    const std::size_t middle = way == 4 ? v.size() / 2 : v.size();
                    if (way == 0) place = std::addressof(v.emplace_back(static_cast<given>(argument)));
                    if (way == 1) {
                        if constexpr (requires { v.try_emplace_back(static_cast<given>(argument)); }) {
                            place = v.try_emplace_back(static_cast<given>(argument));
                        } else {
                            return;
                        }
                    }
                    if (way == 2) {
                        if constexpr (requires { v.unchecked_emplace_back(static_cast<given>(argument)); }) {
                            if (v.size() == v.capacity()) v.reserve(2 * v.size() + 1);
                            place = std::addressof(v.unchecked_emplace_back(static_cast<given>(argument)));
                        } else {
                            return;
                        }
                    }
                    if (way >= 3) {
                        const bool growing = v.size() == v.capacity();
                        place = std::to_address(v.emplace(nth(v, middle), static_cast<given>(argument)));
                        if (middle + 1 != v.size() && (!growing || !Family::moves))
                            last.self = place;    // built in a local, then moved
                    }
                    argument_kinds::expect_built(i, std::addressof(argument), Temporary, place, v.data() + middle,
                                                 changed(argument, i + 1));
                    if (testing::Test::HasFatalFailure()) return;
                }
            }
        }
    }
    template <class T, class Number>
    void changed_by_reference() {
        keep_their_identity<T, false>([](int i) { return static_cast<Number>(i % 2 + 1); },
                                      [](const Number& number, int) { return number == Number{}; });
    }
    template <class T, class Number>
    void given_by_either() {
        const auto make = [](int i) { return static_cast<Number>(i % 2 + 1); };
        const auto same = [](const Number& number, int i) { return number == static_cast<Number>(i % 2 + 1); };
        keep_their_identity<T, false>(make, same);
        keep_their_identity<T, true>(make, same);
    }
};
TYPED_TEST_SUITE(arguments_of, subjects);

TYPED_TEST(arguments_of, elements_that_take_a_number_by_value_or_by_reference) {
    using namespace argument_kinds;
    this->template changed_by_reference<of_reference<int>, int>();
    this->template changed_by_reference<of_reference<float>, float>();
    this->template changed_by_reference<of_reference<unsigned char, 1>, unsigned char>();
    this->template changed_by_reference<of_reference<int, 168>, int>();
    this->template changed_by_reference<of_reference<int, 8, true>, int>();
}
TYPED_TEST(arguments_of, elements_that_take_a_number_of_either_kind) {
    using namespace argument_kinds;
    this->template given_by_either<of_either<int>, int>();
    this->template given_by_either<of_either<float, 48>, float>();
    this->template given_by_either<of_either<unsigned char, 1>, unsigned char>();
    this->template given_by_either<of_either<colour, 4>, colour>();
    this->template given_by_either<of_either<plain_colour>, plain_colour>();
    this->template given_by_either<of_either<int, 168>, int>();
}
TYPED_TEST(arguments_of, elements_that_empty_what_they_are_given) {
    using namespace argument_kinds;
    const auto pointer = [](int i) { return std::make_unique<int>(i); };
    const auto no_pointer = [](const std::unique_ptr<int>& given, int) { return given == nullptr; };
    this->template keep_their_identity<of_given<std::unique_ptr<int>, true>, true>(pointer, no_pointer);
    this->template keep_their_identity<of_given<std::unique_ptr<int>, false>, true>(pointer, no_pointer);
    const auto text = [](int i) { return std::string(40, static_cast<char>('a' + i % 26)); };
    this->template keep_their_identity<of_given<std::string, false>, true>(text,
                                                                           [](const std::string& s, int) { return s.empty(); });
}
TYPED_TEST(arguments_of, relocatable_elements_that_own_something) {
    this->template changed_by_reference<argument_kinds::owner, int>();
}

namespace argument_kinds {

// Its constructor reads the container and its argument, which can be part of an element.
template <bool Throws>
struct reader {
    template <class Container>
    reader(const Container& all, const int& from) noexcept(!Throws)
        : number(from + 1), size(static_cast<int>(all.size())), sum(0) {
        for (const reader& each : all) sum += each.size;
    }
    int number;
    int size;
    int sum;
};
// Throws for one number.
struct refusing {
    refusing(const int& from, const int& fail_at) : number(from + 1) {
        if (number == fail_at) throw std::runtime_error("told to");
    }
    int number;
};
// An aggregate that records its address.
struct initialised {
    int number;
    const initialised* where = this;
};

}    // namespace argument_kinds

TYPED_TEST(arguments_of, elements_whose_constructor_reads_the_container) {
    const auto read = []<class T>(T*) {
        if constexpr (TypeParam::template takes<T>) {
            auto own = TypeParam::template make<T>();
            auto& v = own.get();
            v.emplace_back(v, 0);
            for (int i = 1; i != 700; ++i) {
                v.emplace_back(v, v[static_cast<std::size_t>(i) - 1].number);
                ASSERT_EQ(v.back().number, i + 1);
                ASSERT_EQ(v.back().size, i);
                ASSERT_EQ(v.back().sum, i * (i - 1) / 2);
            }
        }
    };
    read(static_cast<argument_kinds::reader<false>*>(nullptr));
    read(static_cast<argument_kinds::reader<true>*>(nullptr));
}
#if defined(__cpp_aggregate_paren_init)
TYPED_TEST(arguments_of, aggregates_whose_members_are_initialised_by_default) {
    using argument_kinds::initialised;
    if constexpr (TypeParam::template takes<initialised>) {
        auto own = TypeParam::template make<initialised>();
        auto& v = own.get();
        for (int i = 0; i != 700; ++i) {
            v.emplace_back(i);
            ASSERT_EQ(v.back().number, i);
            ASSERT_EQ(v.back().where, &v.back());
        }
    }
}
#endif

TYPED_TEST(arguments_of, elements_whose_constructor_throws_at_each_growth) {
    using T = argument_kinds::refusing;
    if constexpr (TypeParam::template takes<T>) {
        auto own = TypeParam::template make<T>();
        auto& v = own.get();
        v.emplace_back(0, 0);
        for (int i = 1; i != 700; ++i) {
            const T* const data = v.data();
            const int& from = v[static_cast<std::size_t>(i) - 1].number;
            EXPECT_THROW(v.emplace_back(from, i + 1), std::runtime_error);
            ASSERT_EQ(v.size(), static_cast<std::size_t>(i));
            ASSERT_EQ(v.data(), data) << "nothing has moved";
            ASSERT_EQ(from, i) << "nor changed";
            v.emplace_back(from, 0);
            ASSERT_EQ(v.back().number, i + 1);
        }
    }
}

// Built from a number without throwing, and relocated as bytes. It may be built after the others have moved, unless its argument
// lies inside one of them.
struct of_a_number {
    using headroom_is_trivially_relocatable = of_a_number;
    explicit of_a_number(const int& from) noexcept : number(from) {}
    of_a_number(of_a_number&& other) noexcept : number(std::exchange(other.number, -1)) {}
    of_a_number& operator=(of_a_number&&) = delete;
    ~of_a_number() { number = -2; }
    int number;
};

// The argument is part of an element. The new element is an aggregate, a number, or a copy of another element.
TYPED_TEST(arguments_of, that_are_parts_of_elements) {
    struct three {
        int first, second, third;
    };
    if constexpr (TypeParam::template takes<three>) {
        auto own = TypeParam::template make<three>();
        auto& v = own.get();
        v.push_back(three{1, 2, 3});
        for (int i = 1; i != 700; ++i) {
            const auto& from = v[static_cast<std::size_t>(i) / 2];
            const three expected{from.third, from.first, i};
            if (i % 3 == 0) v.push_back(from);
#if defined(__cpp_aggregate_paren_init)
            if (i % 3 != 0) v.emplace_back(from.third, from.first, i);
#else
            if (i % 3 != 0) v.push_back(three{from.third, from.first, i});
#endif
            const auto& same = v[static_cast<std::size_t>(i) / 2];
            const three& made = v.back();
            ASSERT_EQ(made.first, i % 3 == 0 ? same.first : expected.first);
            ASSERT_EQ(made.third, i % 3 == 0 ? same.third : expected.third);
        }
    }
    if constexpr (TypeParam::template takes<of_a_number>) {
        auto own = TypeParam::template make<of_a_number>();
        auto& v = own.get();
        v.emplace_back(0);
        for (int i = 1; i != 3000; ++i) {
            const std::size_t from = v.size() / 2;
            v.emplace_back(v[from].number);
            ASSERT_EQ(v.back().number, v[from].number);
            v.emplace_back(i);
            ASSERT_EQ(v.back().number, i);
        }
    }
    if constexpr (TypeParam::template takes<int>) {
        auto numbers = TypeParam::template make<int>();
        auto& n = numbers.get();
        n.push_back(1);
        for (int i = 1; i != 3000; ++i) {
            n.emplace_back(n.back());
            n.back() += 1;
            ASSERT_EQ(n[n.size() - 2], i);
        }
    }
}
