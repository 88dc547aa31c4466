// SPDX-License-Identifier: MIT
// Requirements of the standard libraries' test suites beyond the members' effects: valid expressions, noexcept, member types.
#if defined(_MSC_VER)
#pragma warning(disable : 4267)    // in std::vector, with an allocator whose sizes have 32 bits
#endif
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <iterator>
#include <limits>
#include <memory>
#include <memory_resource>
#include <new>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <headroom/vector.hpp>

#include "support/allocators.hpp"
#include "support/elements.hpp"
#include "support/iterators.hpp"

namespace {

struct without_order {
    bool operator==(const without_order&) const = default;
};
struct less_only {
    int value;
    friend bool operator<(const less_only& a, const less_only& b) { return a.value < b.value; }
    [[maybe_unused]] friend bool operator==(const less_only&, const less_only&) = default;
};

TEST(comparison_of_vectors, exists_where_the_elements_can_be_compared) {
    EXPECT_FALSE((std::three_way_comparable<headroom::vector<without_order>>));
    EXPECT_FALSE((std::totally_ordered<headroom::vector<without_order>>));
    EXPECT_TRUE((std::equality_comparable<headroom::vector<without_order>>));
    EXPECT_TRUE((std::three_way_comparable<headroom::vector<int>, std::strong_ordering>));
    EXPECT_TRUE((std::three_way_comparable<headroom::vector<double>, std::partial_ordering>));
    EXPECT_TRUE((std::three_way_comparable<headroom::vector<less_only>, std::weak_ordering>));
    EXPECT_TRUE(headroom::vector<without_order>(2) == headroom::vector<without_order>(2));
    const headroom::vector<less_only> low{{1}, {2}};
    const headroom::vector<less_only> high{{1}, {3}};
    EXPECT_TRUE((low <=> high) < 0);
    EXPECT_TRUE((high <=> low) > 0);
    EXPECT_TRUE(low != high);
}

TEST(iterators_of_vectors, are_contiguous_and_ordered_whatever_the_allocators_pointers) {
    using elements = headroom::vector<int, headroom_test::fancy_allocator<int>>;
    EXPECT_TRUE(std::contiguous_iterator<elements::iterator>);
    EXPECT_TRUE(std::contiguous_iterator<elements::const_iterator>);
    EXPECT_TRUE((std::three_way_comparable<elements::iterator, std::strong_ordering>));
    EXPECT_TRUE(std::ranges::contiguous_range<elements>);
    elements v{1, 2, 3};
    const elements::iterator inserted = v.insert(v.begin() + 1, 9);
    EXPECT_EQ(inserted, v.begin() + 1);
    EXPECT_EQ(*v.erase(v.cbegin()), 9);
    EXPECT_EQ(*v.rbegin(), 3);
}

TEST(iterators_of_vectors, are_not_compared_with_those_of_other_elements) {
    using ints = headroom::vector<int>;
    EXPECT_TRUE((std::sized_sentinel_for<ints::const_iterator, ints::iterator>));
    EXPECT_FALSE((std::sentinel_for<headroom::vector<double>::iterator, ints::iterator>));
    EXPECT_FALSE((std::sized_sentinel_for<headroom::vector<const void*>::iterator, headroom::vector<void*>::iterator>));
}

TEST(iterators_of_vectors, can_be_stepped_where_a_call_returned_them) {
    headroom::vector<int> v{3, 1, 2};
    EXPECT_EQ(*--v.end(), 2);
    EXPECT_EQ(*++v.begin(), 1);
    const headroom::vector<int>& same = v;
    EXPECT_EQ(*--same.end(), 2);
    EXPECT_TRUE((std::is_convertible_v<headroom::vector<int>::iterator, headroom::vector<int>::const_iterator>));
    EXPECT_FALSE((std::is_convertible_v<headroom::vector<int>::const_iterator, headroom::vector<int>::iterator>));
}

TEST(iterators_of_vectors, lead_to_the_standards_algorithms_unqualified) {
    headroom::vector<int> v{3, 1, 2};
    sort(v.begin(), v.end());
    EXPECT_EQ(v, (headroom::vector<int>{1, 2, 3}));
}

// An allocator whose size_type has 32 bits.
template <class T>
struct small_sizes : std::allocator<T> {
    using size_type = std::uint32_t;
    using difference_type = std::int32_t;
    template <class U>
    struct rebind {
        using other = small_sizes<U>;
    };
    [[nodiscard]] constexpr std::size_t max_size() const noexcept { return SIZE_MAX; }
};

TEST(a_vector, takes_its_types_of_sizes_from_the_allocator) {
    using elements = headroom::vector<char, small_sizes<char>>;
    EXPECT_TRUE((std::is_same_v<elements::size_type, std::uint32_t>));
    EXPECT_TRUE((std::is_same_v<elements::difference_type, std::int32_t>));
    elements v{'a', 'b'};
    EXPECT_EQ(v.max_size(), std::size_t{std::numeric_limits<std::int32_t>::max()});
    // Truncated to 32 bits this is 0.
    constexpr std::size_t too_many = std::size_t{1} << (sizeof(std::size_t) > 4 ? 32 : 31);
    EXPECT_THROW(v.resize(too_many), std::length_error);
    EXPECT_THROW(elements(std::size_t{too_many}), std::length_error);
    EXPECT_EQ(v.size(), 2u);
}

TEST(a_vector, can_be_swapped_without_throwing_whatever_its_allocator) {
    using elements = headroom::vector<int, headroom_test::fancy_allocator<int>>;
    EXPECT_TRUE(noexcept(std::declval<elements&>().swap(std::declval<elements&>())));
    EXPECT_TRUE(std::is_nothrow_swappable_v<headroom::pmr::vector<int>>);
}

TEST(a_vector, is_moved_beside_an_allocator_without_throwing_where_allocators_are_always_equal) {
    using plain = headroom::vector<int>;
    using pmr = headroom::pmr::vector<int>;
    EXPECT_TRUE((std::is_nothrow_constructible_v<plain, plain&&, const plain::allocator_type&>));
    EXPECT_FALSE((std::is_nothrow_constructible_v<pmr, pmr&&, const pmr::allocator_type&>));
}

// Counts copies and moves of the allocator.
int copies_of_allocators;
int moves_of_allocators;
template <class T>
struct counted : std::allocator<T> {
    counted() = default;
    counted(const counted& other) noexcept : std::allocator<T>(other) { ++copies_of_allocators; }
    counted(counted&& other) noexcept : std::allocator<T>(other) { ++moves_of_allocators; }
    counted& operator=(const counted&) = default;
    template <class U>
    struct rebind {
        using other = counted<U>;
    };
};

TEST(a_vector, copies_or_moves_its_allocator_once) {
    const counted<int> allocator;
    copies_of_allocators = moves_of_allocators = 0;
    headroom::vector<int, counted<int>> v(allocator);
    EXPECT_EQ(copies_of_allocators, 1);
    EXPECT_EQ(moves_of_allocators, 0);
    const headroom::vector<int, counted<int>> w(std::move(v));
    EXPECT_EQ(copies_of_allocators, 1);
    EXPECT_EQ(moves_of_allocators, 1);
}

// Counts copies and moves of an element on its way into the vector.
struct traveller {
    static inline int copied = 0;
    static inline int made_by_move = 0;
    int value = 0;
    traveller() = default;
    explicit traveller(int from) : value(from) {}
    traveller(const traveller& other) : value(other.value) { ++copied; }
    traveller(traveller&& other) noexcept : value(std::exchange(other.value, -1)) { ++made_by_move; }
    traveller& operator=(const traveller&) = default;
    traveller& operator=(traveller&& other) noexcept {
        value = std::exchange(other.value, -1);
        return *this;
    }
};

TEST(a_vector, makes_no_element_on_the_side_for_one_that_is_given_away) {
    headroom::vector<traveller> v(3);
    v.reserve(8);
    traveller given(7);
    traveller::made_by_move = 0;
    v.insert(v.begin(), std::move(given));
    EXPECT_EQ(traveller::made_by_move, 1);    // the last element, moved one place back
    EXPECT_EQ(v.front().value, 7);
    v.emplace(v.begin() + 1, traveller(8));
    EXPECT_EQ(v[1].value, 8);
    v.insert(v.begin(), std::move(v[1]));    // its own element, which is shifted during the insertion
    EXPECT_EQ(v[0].value, 8);
    EXPECT_EQ(v[1].value, 7);
    EXPECT_EQ(v[2].value, -1);
}

TEST(a_vector, copies_a_value_no_more_often_than_it_must_when_it_outgrows_its_block) {
    headroom::vector<traveller> v(10);
    v.shrink_to_fit();
    const traveller value(7);
    traveller::copied = 0;
    v.insert(v.begin() + 3, v.capacity() + 20, value);
    EXPECT_EQ(traveller::copied, static_cast<int>(v.size()) - 10);
    EXPECT_EQ(v[3].value, 7);
    EXPECT_EQ(v.back().value, 0);
    traveller::copied = 0;
    v.shrink_to_fit();
    const std::size_t many = v.capacity();
    v[5].value = 9;
    v.insert(v.begin(), many, v[5]);    // its own element
    EXPECT_EQ(v.front().value, 9);
    EXPECT_EQ(v[many - 1].value, 9);
}

// Copyable; its move constructor is deleted.
struct only_copied {
    explicit only_copied(int from) : value(from) {}
    only_copied(const only_copied&) = default;
    only_copied(only_copied&&) = delete;
    int value;
};

TEST(a_vector, grows_with_elements_whose_move_is_deleted) {
    headroom::vector<only_copied> v;
    const only_copied one(1);
    for (int i = 0; i < 100; ++i) v.push_back(one);
    EXPECT_EQ(v.size(), 100U);
    EXPECT_EQ(v.back().value, 1);
}

// Constructible from an int and assignable from one; not copyable.
struct made_in_place {
    made_in_place(int from) : value(from) {}
    made_in_place(const made_in_place&) = delete;
    made_in_place& operator=(const made_in_place&) = delete;
    made_in_place& operator=(int from) {
        value = from;
        return *this;
    }
    int value;
};

TEST(a_vector, is_assigned_a_forward_range_of_what_its_immovable_elements_are_made_from) {
    const std::forward_list<int> source{1, 2, 3, 4};
    headroom::vector<made_in_place> v(source.begin(), std::next(source.begin(), 2));
    v.assign(source.begin(), source.end());
    ASSERT_EQ(v.size(), 4U);
    EXPECT_EQ(v[3].value, 4);
    v.assign(std::next(source.begin(), 3), source.end());
    v.assign_range(source);
    ASSERT_EQ(v.size(), 4U);
    EXPECT_EQ(v[0].value, 1);
    EXPECT_EQ(v[3].value, 4);
}

TEST(a_vector, takes_the_block_of_a_travelling_allocator_whatever_the_elements_are) {
    using elements = headroom::vector<made_in_place, headroom_test::numbered_allocator<made_in_place, true>>;
    const int source[] = {1, 2, 3};
    elements v(std::begin(source), std::end(source));
    elements w;
    w = std::move(v);
    ASSERT_EQ(w.size(), 3U);
    EXPECT_EQ(w[2].value, 3);
}

// Copies throw when `copies_left` is used up.
struct seldom_copied {
    static inline int copies_left = 0;
    int value;
    explicit seldom_copied(int from) : value(from) {}
    seldom_copied(const seldom_copied& other) : value(other.value) {
        if (copies_left-- == 0) throw std::runtime_error("no more copies");
    }
    seldom_copied& operator=(const seldom_copied&) = default;
};
// An allocator that throws a type of its own.
template <class T>
struct refusing : std::allocator<T> {
    static inline bool refuses = false;
    T* allocate(std::size_t count) {
        if (refuses) throw std::runtime_error("refused");
        return std::allocator<T>::allocate(count);
    }
    template <class U>
    struct rebind {
        using other = refusing<U>;
    };
};

TEST(a_vector, gives_up_shrinking_where_a_copy_or_the_allocator_throws) {
    headroom::vector<seldom_copied> v;
    v.reserve(1000);
    for (int i = 0; i < 10; ++i) v.emplace_back(i);
    seldom_copied::copies_left = 5;
    EXPECT_NO_THROW(v.shrink_to_fit());
    ASSERT_EQ(v.size(), 10U);
    EXPECT_EQ(v[9].value, 9);
    EXPECT_EQ(v.capacity(), 1000U);

    headroom::vector<int, refusing<int>> w{1, 2, 3};
    w.reserve(1000);
    refusing<int>::refuses = true;
    EXPECT_NO_THROW(w.shrink_to_fit());
    refusing<int>::refuses = false;
    EXPECT_EQ(w, (headroom::vector<int, refusing<int>>{1, 2, 3}));
}

// An iterator whose comma operator is deleted.
struct no_comma {
    using iterator_category = std::input_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int*;
    using reference = const int&;
    const int* at;
    const int& operator*() const { return *at; }
    no_comma& operator++() {
        ++at;
        return *this;
    }
    no_comma operator++(int) { return {at++}; }
    friend bool operator==(const no_comma&, const no_comma&) = default;
    template <class Other>
    void operator,(const Other&) const = delete;
};

TEST(a_vector, takes_iterators_whose_comma_is_deleted) {
    const int source[] = {1, 2, 3, 4};
    headroom::vector<int> v{9, 9};
    v.assign(no_comma{source}, no_comma{source + 4});
    EXPECT_EQ(v, (headroom::vector<int>{1, 2, 3, 4}));
    v.insert(v.begin(), no_comma{source + 2}, no_comma{source + 4});
    EXPECT_EQ(v, (headroom::vector<int>{3, 4, 1, 2, 3, 4}));
}

// Allocates at most 100 elements at once, and 160 in total.
template <class T>
struct frugal_allocator {
    using value_type = T;
    static inline std::size_t out = 0;

    T* allocate(std::size_t count) {
        if (count > max_size() || out + count > 160) throw std::bad_alloc();
        out += count;
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        out -= count;
        std::allocator<T>().deallocate(memory, count);
    }
    [[nodiscard]] std::size_t max_size() const noexcept { return 100; }
    friend bool operator==(const frugal_allocator&, const frugal_allocator&) = default;
};

// A single-pass range inserted into a full vector is first collected in a second container, which must stop at max_size().
TEST(a_vector, says_length_error_of_a_single_pass_range_as_soon_as_it_passes_max_size) {
    for (const std::size_t more : {41U, 1000U}) {
        const headroom_test::numbers_list numbers(more, 7);
        headroom::vector<int, frugal_allocator<int>> v(60);
        EXPECT_THROW(v.append_range(headroom_test::single_pass<int>(numbers)), std::length_error) << more;
        EXPECT_THROW(v.insert_range(v.begin(), headroom_test::single_pass<int>(numbers)), std::length_error) << more;
        EXPECT_EQ(v.size(), 60U);
        EXPECT_EQ(v.capacity(), 60U);
    }
}

}    // namespace
