// What the standard libraries' own suites ask of a vector beyond what its members do: which expressions exist for which
// types, what can throw, and which types it names.
#include <compare>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <headroom/vector.hpp>

#include "support/allocators.hpp"

namespace {

struct without_order {
    bool operator==(const without_order&) const = default;
};
struct less_only {
    int value;
    friend bool operator<(const less_only& a, const less_only& b) { return a.value < b.value; }
    friend bool operator==(const less_only&, const less_only&) = default;
};

TEST(comparison_of_vectors, exists_where_the_elements_can_be_compared) {
    EXPECT_FALSE((std::three_way_comparable<headroom::vector<without_order>>));
    EXPECT_FALSE((std::totally_ordered<headroom::vector<without_order>>));
    EXPECT_TRUE((std::equality_comparable<headroom::vector<without_order>>));
    EXPECT_TRUE((std::three_way_comparable<headroom::vector<int>, std::strong_ordering>));
    EXPECT_TRUE((std::three_way_comparable<headroom::vector<double>, std::partial_ordering>));
    EXPECT_TRUE((std::three_way_comparable<headroom::vector<less_only>, std::weak_ordering>));
}

TEST(iterators_of_vectors, are_contiguous_and_ordered_whatever_the_allocators_pointers) {
    using elements = headroom::vector<int, headroom_test::fancy_allocator<int>>;
    EXPECT_TRUE(std::contiguous_iterator<elements::iterator>);
    EXPECT_TRUE(std::contiguous_iterator<elements::const_iterator>);
    EXPECT_TRUE((std::three_way_comparable<elements::iterator, std::strong_ordering>));
    EXPECT_TRUE(std::ranges::contiguous_range<elements>);
    elements v{1, 2, 3};
    EXPECT_EQ(v.insert(v.begin() + 1, 9), v.begin() + 1);
    EXPECT_EQ(*v.erase(v.cbegin()), 9);
    EXPECT_EQ(*v.rbegin(), 3);
}

// An allocator with sizes of its own.
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
    EXPECT_THROW(v.resize(std::size_t{1} << 32), std::length_error);
    EXPECT_THROW(elements(std::size_t{1} << 32), std::length_error);
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

// An iterator whose comma must not be used.
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

}  // namespace
