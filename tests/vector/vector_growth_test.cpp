// SPDX-License-Identifier: MIT
// Growth of a vector: in place, by realloc, by moving page table entries. Left out under Valgrind, where the gigabytes take minutes
// and it finds no more than AddressSanitizer.
// Labels: no-valgrind
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <memory_resource>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <headroom/testing.hpp>
#include <headroom/reservation.hpp>
#include <headroom/vector.hpp>

#include "support/emulated.hpp"
#include "support/growing_elements.hpp"

namespace headroom_test::growing {

template <>
std::shared_ptr<int> make<std::shared_ptr<int>>(int i) {
    static std::vector<std::shared_ptr<int>> known;
    while (known.size() <= static_cast<std::size_t>(i)) known.push_back(std::make_shared<int>(static_cast<int>(known.size())));
    return known[static_cast<std::size_t>(i)];
}

}    // namespace headroom_test::growing

namespace {

using headroom::vector;
using headroom_test::growing::counted;
using headroom_test::growing::make;
using headroom_test::growing::same;
using headroom_test::growing::wide;

// So low that a few hundred elements pass through all three ways of growing.
struct early : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 4096;
};
struct never : headroom::vector_policy {
    static constexpr std::size_t map_threshold = static_cast<std::size_t>(-1);
};

template <class T, class P>
struct kind {
    using element = T;
    using policy = P;
    using vector = headroom::vector<T, std::allocator<T>, P>;
};
template <class T>
struct with_pmr {
    using element = T;
    using policy = headroom::vector_policy;
    using vector = headroom::pmr::vector<T>;
};
template <class K>
class vector_of : public testing::Test {};
using kinds = testing::Types<kind<int, early>, kind<std::string, early>, kind<std::unique_ptr<int>, early>, kind<wide, early>,
                             kind<counted, early>, kind<int, never>, kind<std::string, never>, kind<std::unique_ptr<int>, never>,
                             kind<wide, never>, with_pmr<int>, with_pmr<std::unique_ptr<int>>, with_pmr<counted>>;
TYPED_TEST_SUITE(vector_of, kinds, );

TYPED_TEST(vector_of, keeps_every_element_while_it_grows) {
    using T = typename TypeParam::element;
    typename TypeParam::vector v;
    EXPECT_EQ(v.capacity(), 0U);
    for (int i = 0; i < 20000; ++i) {
        if (i % 3 == 0) {
            v.emplace_back(make<T>(i));
        } else if (i % 3 == 1) {
            v.push_back(make<T>(i));
        } else {
            ASSERT_NE(v.try_push_back(make<T>(i)), nullptr);
        }
    }
    ASSERT_EQ(v.size(), 20000U);
    for (int i = 0; i < 20000; ++i) ASSERT_TRUE(same(v[static_cast<std::size_t>(i)], i)) << i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % alignof(T), 0U);
    v.erase(v.begin() + 10, v.end());
    v.shrink_to_fit();
    EXPECT_LT(v.capacity(), 20U);
    v.emplace(v.begin() + 3, make<T>(77));
    ASSERT_EQ(v.size(), 11U);
    EXPECT_TRUE(same(v[2], 2));
    EXPECT_TRUE(same(v[3], 77));
    EXPECT_TRUE(same(v[10], 9));
}

TYPED_TEST(vector_of, moves_in_constant_time_and_can_be_used_afterwards) {
    using T = typename TypeParam::element;
    for (const int size : {3, 3000}) {
        typename TypeParam::vector v;
        for (int i = 0; i < size; ++i) v.push_back(make<T>(i));
        const T* const first = v.data();
        auto w = std::move(v);
        EXPECT_EQ(w.data(), first);
        EXPECT_TRUE(v.empty());
        v.push_back(make<T>(5));
        swap(v, w);
        EXPECT_EQ(v.data(), first);
        w = std::move(v);
        EXPECT_EQ(w.data(), first);
        EXPECT_EQ(w.size(), static_cast<std::size_t>(size));
    }
}

template <class K>
class copyable_vector_of : public testing::Test {};
using copyable =
    testing::Types<kind<int, early>, kind<std::string, early>, kind<wide, early>, kind<counted, early>, kind<int, never>,
                   kind<std::string, never>, kind<std::shared_ptr<int>, early>, with_pmr<int>, with_pmr<counted>>;
TYPED_TEST_SUITE(copyable_vector_of, copyable, );

TYPED_TEST(copyable_vector_of, agrees_with_std_vector_in_every_operation) {
    using T = typename TypeParam::element;
    std::vector<T> values;
    for (int i = 0; i < 300; ++i) values.push_back(make<T>(1000 + i));
    std::vector<T> model;
    typename TypeParam::vector v;
    const auto check = [&](int line) {
        ASSERT_EQ(v.size(), model.size()) << line;
        ASSERT_LE(v.size(), v.capacity()) << line;
        EXPECT_TRUE(std::equal(v.begin(), v.end(), model.begin())) << line;
    };
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 100; ++i) v.push_back(values[1]), model.push_back(values[1]);
        for (int i = 0; i < 100; ++i) v.push_back(v[v.size() / 2]), model.push_back(T(model[model.size() / 2]));
        check(__LINE__);
        v.shrink_to_fit(), v.push_back(v[0]), model.push_back(T(model[0])), check(__LINE__);
        v.shrink_to_fit(), v.push_back(std::move(v[3])), model.push_back(std::move(model[3])), check(__LINE__);
        v[3] = values[9], model[3] = values[9];
        v.shrink_to_fit(), v.emplace_back(v[1]), model.emplace_back(T(model[1])), check(__LINE__);
        v.shrink_to_fit(), v.emplace(v.begin() + 2, v[7]), model.emplace(model.begin() + 2, T(model[7])), check(__LINE__);
        v.emplace(v.begin() + 2, v[7]), model.emplace(model.begin() + 2, T(model[7])), check(__LINE__);
        v.shrink_to_fit(), v.insert(v.begin() + 4, 50, v[9]), model.insert(model.begin() + 4, 50, T(model[9])), check(__LINE__);
        v.insert(v.begin() + 4, 5, v[9]), model.insert(model.begin() + 4, 5, T(model[9])), check(__LINE__);
        v.insert(v.begin() + 4, values.begin(), values.end());
        model.insert(model.begin() + 4, values.begin(), values.end()), check(__LINE__);
        v.insert(v.end() - 4, values.begin(), values.begin() + 7);
        model.insert(model.end() - 4, values.begin(), values.begin() + 7), check(__LINE__);
        v.insert(v.begin() + 3, values[3]), model.insert(model.begin() + 3, values[3]), check(__LINE__);
        v.append_range(values), model.insert(model.end(), values.begin(), values.end()), check(__LINE__);
        v.erase(v.begin() + 3, v.begin() + 40), model.erase(model.begin() + 3, model.begin() + 40), check(__LINE__);
        v.erase(v.begin()), model.erase(model.begin()), check(__LINE__);
        v.shrink_to_fit(), v.resize(v.size() + 70, v[0]), model.resize(model.size() + 70, T(model[0])), check(__LINE__);
        v.resize(v.size() + 70), model.resize(model.size() + 70), check(__LINE__);
        v.resize(20), model.resize(20), check(__LINE__);
        v.reserve(5000), check(__LINE__);
        EXPECT_GE(v.capacity(), 5000U);
        v.shrink_to_fit(), v.assign(60, v[3]), model.assign(60, T(model[3])), check(__LINE__);
        v.assign(30, v[3]), model.assign(30, T(model[3])), check(__LINE__);
        v.assign_range(values), model.assign(values.begin(), values.end()), check(__LINE__);
        auto copy = v;
        EXPECT_EQ(copy, v);
        copy.pop_back();
        EXPECT_NE(copy, v);
        v = copy, model.pop_back(), check(__LINE__);
        copy.clear();
        copy = v;
        EXPECT_EQ(copy, v);
        v = {values[0], values[1]}, model = {values[0], values[1]}, check(__LINE__);
        v.assign(9000, values[4]), model.assign(9000, values[4]), check(__LINE__);
        const auto large = v;
        v.pop_back(), model.pop_back(), check(__LINE__);
        EXPECT_EQ(large.size(), v.size() + 1);
        v.shrink_to_fit(), check(__LINE__);
        v.resize(5), model.resize(5), check(__LINE__);
    }
    EXPECT_EQ(typename TypeParam::vector(values.begin(), values.end()).size(), 300U);
    EXPECT_EQ(erase(v, v[0]), v.capacity() == 0 ? 0U : static_cast<std::size_t>(std::erase(model, T(model[0]))));
}

TEST(vector_of_throwing, loses_nothing_whichever_element_throws) {
    using small = vector<counted, std::allocator<counted>, early>;
    const int before = counted::alive;
    for (int k = 0; k < 300; ++k) {
        std::vector<counted> values(12);
        small v;
        small other;
        for (int i = 0; i < 10; ++i) v.emplace_back(i);
        counted::fail_in = k;
        try {
            for (int i = 0; i < 20; ++i) v.push_back(v[0]);
            v.insert(v.begin() + 3, values.begin(), values.end());
            v.insert(v.begin() + 20, 3, v[0]);
            v.shrink_to_fit();
            v.insert(v.begin() + 20, 3, v[0]);
            v.shrink_to_fit();
            v.emplace(v.begin(), 4);
            v.assign(values.begin(), values.begin() + 4);
            v.resize(20);
            other = v;
            small third(v);
            third.reserve(1500);
            third.assign(40, v[1]);
        } catch (const std::runtime_error&) {}
        counted::fail_in = -1;
        EXPECT_EQ(counted::alive - before, static_cast<int>(v.size() + values.size() + other.size()));
    }
    EXPECT_EQ(counted::alive, before);
}

TEST(vector_of_throwing, appending_is_all_or_nothing) {
    vector<counted, std::allocator<counted>, early> v;
    v.reserve(16);
    for (int i = 0; i < 16; ++i) v.emplace_back(i);
    ASSERT_EQ(v.capacity(), 16U);
    for (int k = 0; k < 17; ++k) {
        counted::fail_in = k;
        EXPECT_THROW(v.push_back(v[2]), std::runtime_error) << k;
        counted::fail_in = k;
        EXPECT_THROW(v.resize(17), std::runtime_error) << k;
        counted::fail_in = k == 16 ? 15 : k;
        EXPECT_THROW(v.reserve(17), std::runtime_error) << k;
        counted::fail_in = -1;
        ASSERT_EQ(v.size(), 16U);
        for (int i = 0; i < 16; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)].value, i);
    }
}

TEST(vector_growth, doubles) {
    vector<std::array<int, 10>> w;
    for (std::size_t capacity = 1; capacity <= 64; capacity *= 2) {
        w.resize(capacity);
        EXPECT_EQ(w.capacity(), capacity);
        w.emplace_back();
        EXPECT_EQ(w.capacity(), 2 * capacity);
    }
}

TEST(vector_growth, lives_in_a_reservation_from_the_threshold_on) {
    vector<std::string> v;
    while (v.capacity() * sizeof(std::string) < headroom::vector_policy::map_threshold) v.emplace_back();
    ASSERT_TRUE(headroom::owner_of(v.data()));
    const std::string* const first = v.data();
    for (int i = 0; i < 200000; ++i) v.emplace_back("x");
    EXPECT_EQ(v.data(), first);
    v.resize(10);
    v.shrink_to_fit();
    EXPECT_FALSE(headroom::owner_of(v.data()));
    EXPECT_EQ(v.capacity(), 10U);
}

TEST(vector_growth, outgrows_a_reservation_by_page_tables) {
    headroom::trim_cache();
    headroom::testing::limit_address_space(std::size_t{8} << 20);
    vector<int> v;
    while (!headroom::owner_of(v.data())) v.push_back(static_cast<int>(v.size()));
    const std::size_t before = headroom::owner_of(v.data())->reserved;
    headroom::testing::limit_address_space(std::size_t{256} << 20);
    const int* const first = v.data();
    while (v.size() * sizeof(int) < before + 100) v.push_back(static_cast<int>(v.size()));
    EXPECT_NE(v.data(), first);
    EXPECT_TRUE(headroom::owner_of(v.data()));
    for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i));
    headroom::testing::limit_address_space(0);
}

template <class T>
void survive_every_refusal() {
    using tested = vector<T, std::allocator<T>, early>;
    // Fewer under QEMU, which needs a third of a second for the reserved pages of each vector.
    const std::uint64_t most = headroom_test::times(40U, 12U);
    for (std::uint64_t k = 1; k < most; ++k) {
        headroom::trim_cache();
        headroom::testing::fail_system_call(
            k, ENOMEM, k % 2 == 0 ? headroom::testing::afterwards::succeed : headroom::testing::afterwards::keep_failing);
        tested v;
        for (int i = 0; i < 30000; ++i) v.push_back(make<T>(i));
        tested w;
        for (int i = 0; i < 300; ++i) w.push_back(make<T>(i));
        w.shrink_to_fit();
        w.reserve(40000);
        v.resize(20);
        v.shrink_to_fit();
        const std::uint64_t calls = headroom::testing::stop_failing();
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(same(v[static_cast<std::size_t>(i)], i));
        for (int i = 0; i < 300; ++i) ASSERT_TRUE(same(w[static_cast<std::size_t>(i)], i));
        if (calls < k) break;
    }
}

TEST(vector_growth, falls_back_to_the_heap_when_the_system_refuses_reservations) {
    survive_every_refusal<int>();
    survive_every_refusal<std::string>();
    survive_every_refusal<std::unique_ptr<int>>();
    survive_every_refusal<wide>();
}

TEST(vector_growth, too_much_is_a_length_error_and_unchanged) {
    vector<int> v{1, 2, 3};
    EXPECT_THROW(v.reserve((SIZE_MAX >> 2) + 1), std::length_error);
    EXPECT_THROW(v.resize(v.max_size() + 1), std::length_error);
    EXPECT_THROW(v.insert(v.begin(), SIZE_MAX, 1), std::length_error);
    EXPECT_THROW(vector<int>((SIZE_MAX >> 2) + 1), std::length_error);
    EXPECT_THROW(v.reserve(v.max_size()), std::bad_alloc);
    EXPECT_EQ(v, (vector<int>{1, 2, 3}));
}

constexpr int summed_at_compile_time() {
    vector<int> v{1, 2, 3};
    for (int i = 0; i < 100; ++i) v.push_back(i);
    v.insert(v.begin() + 3, 5, v[2]);
    v.emplace(v.begin(), 9);
    v.erase(v.begin() + 1, v.begin() + 3);
    v.resize(50);
    v.resize(300, 1);
    vector<int> w(v);
    w.shrink_to_fit();
    w = {1, 2};
    v.assign(w.begin(), w.end());
    v.append_range(w);
    vector<int> x = std::move(v);
    x.reserve(1000);
    x.insert(x.begin() + 1, w.begin(), w.end());
    int sum = 0;
    for (const int i : x) sum += i;
    return sum + (x == w ? 1000 : 0) + (x < w ? 100 : 0);
}
static_assert(summed_at_compile_time() == 109);

constexpr std::size_t strings_at_compile_time() {
    struct boxed {
        constexpr explicit boxed(int v) : p(new int(v)) {}
        constexpr boxed(boxed&& o) noexcept : p(std::exchange(o.p, nullptr)) {}
        constexpr boxed& operator=(boxed&& o) noexcept {
            std::swap(p, o.p);
            return *this;
        }
        constexpr ~boxed() { delete p; }
        int* p;
    };
    vector<boxed> v;
    for (int i = 0; i < 20; ++i) v.emplace_back(i);
    v.insert(v.begin() + 4, boxed(3));
    v.erase(v.begin());
    v.shrink_to_fit();
    v.reserve(100);
    return v.size();
}
static_assert(strings_at_compile_time() == 20);

static_assert(sizeof(vector<int>) == 3 * sizeof(void*));
static_assert(std::is_nothrow_move_constructible_v<vector<std::string>>);
static_assert(std::is_nothrow_default_constructible_v<vector<int>>);

TEST(vector_types, bools_are_bools) {
    vector<bool> v(3, true);
    bool& second = v[1];
    second = false;
    EXPECT_EQ(v, (vector<bool>{true, false, true}));
}

// Trivially copyable but not copy-constructible: relocated as bytes, otherwise moved.
struct moves_trivially {
    moves_trivially() = default;
    explicit moves_trivially(int v) : value(v) {}
    moves_trivially(moves_trivially&&) = default;
    moves_trivially& operator=(moves_trivially&&) = default;
    int value = 0;
};

TEST(vector_types, trivial_types_that_cannot_be_copied_are_moved) {
    vector<moves_trivially, std::allocator<moves_trivially>, early> v;
    for (int i = 0; i < 3000; ++i) v.push_back(moves_trivially(i));
    v.emplace(v.begin(), 7);
    v.erase(v.begin() + 1);
    EXPECT_EQ(v.front().value, 7);
    EXPECT_EQ(v.back().value, 2999);
}

struct alignas(8192) page_pair {
    int value = 0;
};

TEST(vector_types, elements_may_be_aligned_beyond_a_page) {
    vector<page_pair, std::allocator<page_pair>, early> v;
    for (int i = 0; i < 10; ++i) v.emplace_back().value = i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % 8192, 0U);
    EXPECT_EQ(v[9].value, 9);
}

struct node {
    vector<node> children;
};

TEST(vector_types, an_element_may_hold_a_vector_of_its_own_type) {
    node root;
    root.children.resize(3);
    root.children[1].children.emplace_back();
    EXPECT_EQ(root.children[1].children.size(), 1U);
}

TEST(vector_types, deduces_its_element) {
    const std::vector<double> values{1, 2};
    const vector from(values.begin(), values.end());
    static_assert(std::is_same_v<decltype(from), const vector<double>>);
    const vector list{1, 2, 3};
    static_assert(std::is_same_v<decltype(list), const vector<int>>);
    const vector ranged(headroom::from_range, values);
    static_assert(std::is_same_v<decltype(ranged), const vector<double>>);
    const vector filled(3, std::string("x"));
    static_assert(std::is_same_v<decltype(filled), const vector<std::string>>);
    EXPECT_EQ(ranged.size() + list.size() + filled.size(), 8U);
}

TEST(vector_allocators, pmr_vectors_use_their_resource) {
    std::pmr::monotonic_buffer_resource resource;
    headroom::pmr::vector<std::pmr::string> v(&resource);
    v.emplace_back("a string that is too long to be short, for certain");
    EXPECT_EQ(v.front().get_allocator().resource(), &resource);
    headroom::pmr::vector<std::pmr::string> w(std::move(v), std::pmr::polymorphic_allocator<>{});
    EXPECT_EQ(w.front().get_allocator().resource(), std::pmr::get_default_resource());
    EXPECT_EQ(w.size(), 1U);
    w = std::move(v);
    EXPECT_EQ(w.get_allocator().resource(), std::pmr::get_default_resource());
}

// Includes uninitialized elements, appended many at a time, from an allocator that cannot expand a block in place.
TEST(vector_growth, is_amortised_whatever_is_appended) {
    struct counting final : std::pmr::memory_resource {
        std::size_t calls = 0;
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            ++calls;
            return std::pmr::new_delete_resource()->allocate(bytes, alignment);
        }
        void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
            std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
        }
        bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
    } upstream;
    constexpr std::size_t many = std::size_t{200} << 10;
    headroom::pmr::vector<char> v(&upstream);
    const auto calls_of = [&](auto append) {
        v = headroom::pmr::vector<char>(&upstream);
        upstream.calls = 0;
        for (int i = 0; i < 60; ++i) append();
        return upstream.calls;
    };
    EXPECT_LE(calls_of([&] { v.append_default_init(many); }), 10U);
    EXPECT_LE(calls_of([&] { v.resize_default_init(v.size() + many); }), 10U);
    EXPECT_LE(calls_of([&] { v.resize(v.size() + many); }), 10U);
    EXPECT_LE(calls_of([&] { v.resize_and_overwrite(v.size() + many, [](char*, std::size_t count) { return count; }); }), 10U);
    EXPECT_LE(calls_of([&] { v.insert(v.end(), many, 'x'); }), 10U);
}

}    // namespace
