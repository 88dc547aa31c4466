// Labels: core
// The program may have functions named like the library's. Each word of the headers is declared here as a deleted function
// template beside the elements, their allocator and their iterators, and so are all operators: a lookup that finds one does not
// compile. tests/CMakeLists.txt makes header_names.inc from the headers.
#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_table.hpp>
#include <headroom/frozen.hpp>
#include <headroom/headroom.hpp>

#include <gtest/gtest.h>

#include "odd/every_operation.hpp"

namespace program {

struct number_of_its_own;
struct text_of_its_own;
#define HEADER_NAME(name)                             \
    template <class... Any>                           \
    void name(Any&&...) = delete;                     \
    template <class... Any>                           \
    void name(number_of_its_own*, Any&&...) = delete; \
    template <class... Any>                           \
    void name(text_of_its_own*, Any&&...) = delete;
#include "odd/header_names.inc"
#undef HEADER_NAME

// clang-format off
#define ONE_SIDED(sign) template <class Any> void operator sign(const Any&) = delete;
#define TWO_SIDED(sign) template <class One, class Other> void operator sign(const One&, const Other&) = delete;
ONE_SIDED(&) ONE_SIDED(*) ONE_SIDED(+) ONE_SIDED(-) ONE_SIDED(!) ONE_SIDED(~) ONE_SIDED(++) ONE_SIDED(--)
TWO_SIDED(==) TWO_SIDED(!=) TWO_SIDED(<) TWO_SIDED(>) TWO_SIDED(<=) TWO_SIDED(>=) TWO_SIDED(<=>) TWO_SIDED(&&)
TWO_SIDED(||) TWO_SIDED(+) TWO_SIDED(-) TWO_SIDED(*) TWO_SIDED(/) TWO_SIDED(%) TWO_SIDED(&) TWO_SIDED(|) TWO_SIDED(^)
TWO_SIDED(<<) TWO_SIDED(>>) TWO_SIDED(->*) TWO_SIDED(+=) TWO_SIDED(-=) TWO_SIDED(*=) TWO_SIDED(/=) TWO_SIDED(%=)
TWO_SIDED(&=) TWO_SIDED(|=) TWO_SIDED(^=) TWO_SIDED(<<=) TWO_SIDED(>>=)
#undef ONE_SIDED
#undef TWO_SIDED
template <class One, class Other> void operator,(One&&, Other&&) = delete;
// clang-format on

struct number_of_its_own {
    int value_of_it = 0;
    friend bool operator==(const number_of_its_own& a, const number_of_its_own& b) { return a.value_of_it == b.value_of_it; }
    friend bool operator<(const number_of_its_own& a, const number_of_its_own& b) { return a.value_of_it < b.value_of_it; }
};
struct text_of_its_own {
    std::string value_of_it;
    friend bool operator==(const text_of_its_own&, const text_of_its_own&) = default;
    friend std::strong_ordering operator<=>(const text_of_its_own& a, const text_of_its_own& b) {
        return a.value_of_it <=> b.value_of_it;
    }
};

template <class T>
struct allocator_of_its_own {
    using value_type = T;
    allocator_of_its_own() = default;
    template <class U>
    allocator_of_its_own(const allocator_of_its_own<U>&) {}
    T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
    void deallocate(T* memory, std::size_t count) { std::allocator<T>().deallocate(memory, count); }
    friend bool operator==(const allocator_of_its_own&, const allocator_of_its_own&) = default;
};

struct iterator_of_its_own {
    using iterator_category = std::input_iterator_tag;
    using value_type = number_of_its_own;
    using difference_type = std::ptrdiff_t;
    using pointer = const number_of_its_own*;
    using reference = number_of_its_own;
    int position_of_it = 0;
    number_of_its_own operator*() const { return {position_of_it}; }
    iterator_of_its_own& operator++() {
        ++position_of_it;
        return *this;
    }
    iterator_of_its_own operator++(int) { return {position_of_it++}; }
    friend bool operator==(const iterator_of_its_own&, const iterator_of_its_own&) = default;
};

}    // namespace program

namespace {

// Uses the containers' own operators.
template <class Container>
void compared(const Container& shorter, const Container& longer) {
    EXPECT_TRUE(shorter == shorter);
    EXPECT_TRUE(shorter != longer);
    EXPECT_TRUE(shorter < longer);
    EXPECT_TRUE(longer > shorter);
    EXPECT_TRUE(shorter <= longer);
    EXPECT_TRUE(longer >= shorter);
    EXPECT_TRUE((shorter <=> longer) < 0);
}

template <class Container>
void numbers() {
    headroom_test::every_operation<Container>([](int n) { return program::number_of_its_own{n}; },
                                              [](const auto& x) { return x.value_of_it; });
    Container v(program::iterator_of_its_own{0}, program::iterator_of_its_own{9});
    v.insert(v.begin(), program::iterator_of_its_own{0}, program::iterator_of_its_own{9});
    v.assign(program::iterator_of_its_own{0}, program::iterator_of_its_own{30});
    EXPECT_EQ(v.size(), 30U);
    compared(Container(v.data(), v.data() + 29), v);
}
template <class Container>
void texts() {
    headroom_test::every_operation<Container>([](int n) { return program::text_of_its_own{std::to_string(n)}; },
                                              [](const auto& x) { return x.value_of_it.empty() ? 0 : std::stoi(x.value_of_it); });
    compared(Container{{"1"}}, Container{{"1"}, {"2"}});
}

TEST(foreign_names, vector) {
    numbers<headroom::vector<program::number_of_its_own>>();
    texts<headroom::vector<program::text_of_its_own>>();
}
TEST(foreign_names, settled_vector) {
    numbers<headroom::settled_vector<program::number_of_its_own>>();
    texts<headroom::settled_vector<program::text_of_its_own>>();
}
TEST(foreign_names, small_vector) {
    numbers<headroom::small_vector<program::number_of_its_own, 4>>();
    texts<headroom::small_vector<program::text_of_its_own, 4>>();
}
TEST(foreign_names, vector_with_an_allocator) {
    numbers<headroom::vector<program::number_of_its_own, program::allocator_of_its_own<program::number_of_its_own>>>();
    texts<headroom::vector<program::text_of_its_own, program::allocator_of_its_own<program::text_of_its_own>>>();
    headroom::monotonic_resource memory;
    using bound = headroom::resource_allocator<program::text_of_its_own, headroom::monotonic_resource>;
    headroom::vector<program::text_of_its_own, bound> v{bound(&memory)};
    for (int n = 0; n != 100; ++n) v.push_back({std::to_string(n)});
    EXPECT_EQ(v.back().value_of_it, "99");
    const headroom::winked<program::text_of_its_own> object(memory);
    EXPECT_TRUE(object->value_of_it.empty());
}

}    // namespace
