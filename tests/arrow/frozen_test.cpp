// SPDX-License-Identifier: MIT
// frozen<T>: shares elements in place until the last owner is destroyed.
// Labels: core
#include <headroom/frozen.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "support/elements.hpp"

namespace {

using namespace headroom_test;

template <class T>
class frozen_of : public testing::Test {};
using kinds = testing::Types<int, long, std::string, self_referential, opted_in, overaligned>;
TYPED_TEST_SUITE(frozen_of, kinds);

template <class T>
headroom::settled_vector<T> filled(int count) {
    headroom::settled_vector<T> made;
    for (int i = 0; i < count; ++i) made.push_back(make<T>(i));
    return made;
}

TYPED_TEST(frozen_of, a_settled_vector_is_shared_where_it_lies) {
    auto vector = filled<TypeParam>(1000);
    const TypeParam* const where = vector.data();
    const headroom::frozen<TypeParam> shared = headroom::freeze(std::move(vector));
    EXPECT_EQ(shared.data(), where);
    ASSERT_EQ(shared.size(), 1000U);
    EXPECT_EQ(shared.begin(), where);
    EXPECT_EQ(shared.end(), where + 1000);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(number(shared[static_cast<std::size_t>(i)]), i);
    EXPECT_TRUE(vector.empty());
}

TYPED_TEST(frozen_of, elements_live_until_the_last_share_is_gone) {
    const long live = book.live;
    headroom::frozen<TypeParam> last;
    {
        const headroom::frozen<TypeParam> first = headroom::freeze(filled<TypeParam>(100));
        const headroom::frozen<TypeParam> second = first;
        last = second.first(10);
    }
    EXPECT_EQ(last.size(), 10U);
    EXPECT_EQ(number(last[9]), 9);
    last = {};
    EXPECT_EQ(book.live, live);
}

TYPED_TEST(frozen_of, other_containers_are_taken_over_too) {
    std::vector<TypeParam> ordinary;
    headroom::vector<TypeParam> moving;
    for (int i = 0; i < 50; ++i) ordinary.push_back(make<TypeParam>(i)), moving.push_back(make<TypeParam>(i));
    const TypeParam* const where = ordinary.data();
    const auto one = headroom::freeze(std::move(ordinary));
    const auto two = headroom::freeze(std::move(moving));
    EXPECT_EQ(one.data(), where);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(number(one[i]), number(two[i]));
}

TEST(frozen, what_is_no_container_is_shared_by_its_owner) {
    auto numbers = std::make_shared<std::array<int, 3>>(std::array{7, 8, 9});
    const std::weak_ptr<std::array<int, 3>> alive = numbers;
    {
        const std::span<const int> where(*numbers);
        const headroom::frozen<int> shared(where, std::move(numbers));
        EXPECT_EQ(shared[2], 9);
        EXPECT_FALSE(alive.expired());
    }
    EXPECT_TRUE(alive.expired());
}

// Stands for a vector whose published elements are read while other threads append.
struct publishing {
    std::vector<int> elements;
    std::size_t ready = 0;
    [[nodiscard]] std::span<const int> published() const { return std::span(elements).first(ready); }
};

TEST(frozen, of_a_vector_that_goes_on_growing_what_it_has_published_is_shared) {
    const auto growing = std::make_shared<publishing>(publishing{{1, 2, 3, 4}, 3});
    const headroom::frozen<int> shared = headroom::freeze(growing);
    growing->ready = 4;
    EXPECT_EQ(shared.size(), 3U);
    EXPECT_EQ(headroom::freeze(growing).size(), 4U);
}

// Stands for a concurrent vector: not movable, but its elements can be taken out.
struct taken_at_the_end {
    std::vector<int> elements;
    taken_at_the_end() = default;
    taken_at_the_end(taken_at_the_end&&) = delete;
    std::vector<int> take() && { return std::move(elements); }
};

TEST(frozen, a_vector_that_many_appended_to_is_taken) {
    taken_at_the_end shared_by_threads;
    shared_by_threads.elements = {5, 6};
    const int* const where = shared_by_threads.elements.data();
    const headroom::frozen<int> shared = headroom::freeze(std::move(shared_by_threads));
    EXPECT_EQ(shared.data(), where);
    EXPECT_EQ(shared.size(), 2U);
}

TEST(frozen, of_a_shared_constant_container_all_is_shared) {
    const auto whole = std::make_shared<const std::vector<int>>(std::vector{1, 2, 3});
    EXPECT_EQ(headroom::freeze(whole).size(), 3U);
}

template <class V>
concept can_be_frozen = requires(V&& container) { headroom::freeze(std::forward<V>(container)); };

TEST(frozen, views_and_containers_that_stay_their_owners_are_not_taken) {
    static_assert(can_be_frozen<std::vector<int>>);
    static_assert(!can_be_frozen<std::vector<int>&>);
    static_assert(!can_be_frozen<const std::vector<int>>);
    static_assert(!can_be_frozen<std::span<int>>);
    static_assert(!can_be_frozen<std::string_view>);
    static_assert(!can_be_frozen<std::shared_ptr<std::vector<int>>>);    // the vector may reallocate
}

TEST(frozen, empty_ones_have_no_elements_and_no_owner) {
    const headroom::frozen<int> none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.begin(), none.end());
    EXPECT_EQ(headroom::freeze(headroom::settled_vector<int>()).size(), 0U);
}

}    // namespace
