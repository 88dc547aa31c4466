// SPDX-License-Identifier: MIT
// Labels: core
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <headroom/relocatable.hpp>

namespace {

using headroom::is_trivially_relocatable;
using headroom::is_trivially_relocatable_v;
using headroom::uninitialized_relocate;

struct plain {
    int a;
    double b;
};
struct points_into_itself {
    points_into_itself() = default;
    points_into_itself(const points_into_itself&) {}
    points_into_itself& operator=(const points_into_itself&) { return *this; }
    points_into_itself* self = this;
};
struct opts_in {
    opts_in() = default;
    opts_in(opts_in&&) noexcept {}
    opts_in& operator=(opts_in&&) noexcept { return *this; }
    ~opts_in() {}
    using headroom_is_trivially_relocatable = std::true_type;
};
struct opts_out {
    int value = 0;
    using headroom_is_trivially_relocatable = std::false_type;
};
struct opted_in_from_outside {
    opted_in_from_outside() = default;
    opted_in_from_outside(opted_in_from_outside&&) noexcept {}
    ~opted_in_from_outside() {}
};
struct deleter_with_address {
    deleter_with_address() = default;
    deleter_with_address(const deleter_with_address&) {}
    void operator()(int* p) const { delete p; }
};
struct incomplete;

}    // namespace

template <>
struct headroom::is_trivially_relocatable<opted_in_from_outside> : std::true_type {};

namespace {

TEST(relocatable, trivially_copyable_types_are) {
    EXPECT_TRUE(is_trivially_relocatable_v<int>);
    EXPECT_TRUE(is_trivially_relocatable_v<plain>);
    EXPECT_TRUE(is_trivially_relocatable_v<plain[3]>);
    EXPECT_TRUE(is_trivially_relocatable_v<int*>);
}

TEST(relocatable, types_with_their_own_copy_are_not_unless_they_say_so) {
    EXPECT_FALSE(is_trivially_relocatable_v<points_into_itself>);
    EXPECT_FALSE((is_trivially_relocatable_v<std::list<int>>));
    EXPECT_TRUE(is_trivially_relocatable_v<opts_in>);
    EXPECT_FALSE(is_trivially_relocatable_v<opts_out>);
    EXPECT_TRUE(is_trivially_relocatable_v<opted_in_from_outside>);
}

TEST(relocatable, qualifiers_do_not_matter) {
    EXPECT_TRUE(is_trivially_relocatable_v<const int>);
    EXPECT_TRUE(is_trivially_relocatable_v<const volatile plain>);
    EXPECT_TRUE(is_trivially_relocatable_v<const opted_in_from_outside>);
    EXPECT_TRUE(is_trivially_relocatable_v<const opted_in_from_outside[2]>);
    EXPECT_FALSE(is_trivially_relocatable_v<const points_into_itself>);
    EXPECT_FALSE(is_trivially_relocatable_v<const opts_out>);
}

TEST(relocatable, owners_of_pointers_are) {
    EXPECT_TRUE(is_trivially_relocatable_v<std::unique_ptr<int>>);
    EXPECT_TRUE(is_trivially_relocatable_v<std::unique_ptr<incomplete>>);
    EXPECT_TRUE((is_trivially_relocatable_v<std::unique_ptr<int, void (*)(int*)>>));
    EXPECT_FALSE((is_trivially_relocatable_v<std::unique_ptr<int, deleter_with_address>>));
    EXPECT_TRUE(is_trivially_relocatable_v<std::shared_ptr<int>>);
    EXPECT_TRUE(is_trivially_relocatable_v<std::weak_ptr<int>>);
    EXPECT_TRUE(is_trivially_relocatable_v<std::vector<std::string>>);
}

TEST(relocatable, wrappers_are_what_their_parts_are) {
    using yes = std::unique_ptr<int>;
    using no = points_into_itself;
    EXPECT_TRUE((is_trivially_relocatable_v<std::pair<yes, int>>));
    EXPECT_FALSE((is_trivially_relocatable_v<std::pair<int, no>>));
    EXPECT_TRUE((is_trivially_relocatable_v<std::tuple<yes, int, plain>>));
    EXPECT_FALSE((is_trivially_relocatable_v<std::tuple<yes, no>>));
    EXPECT_TRUE((is_trivially_relocatable_v<std::array<yes, 3>>));
    EXPECT_FALSE((is_trivially_relocatable_v<std::array<no, 3>>));
    EXPECT_TRUE((is_trivially_relocatable_v<std::optional<yes>>));
    EXPECT_FALSE((is_trivially_relocatable_v<std::optional<no>>));
    EXPECT_TRUE((is_trivially_relocatable_v<std::variant<yes, int>>));
    EXPECT_FALSE((is_trivially_relocatable_v<std::variant<int, no>>));
}

#if defined(__GLIBCXX__)
TEST(relocatable, the_string_of_libstdcxx_points_into_itself) {
    EXPECT_FALSE(is_trivially_relocatable_v<std::string>);
    EXPECT_FALSE((is_trivially_relocatable_v<std::pair<int, std::string>>));
}
#endif

template <class T>
struct room {
    alignas(T) std::byte bytes[8 * sizeof(T)];
    T* at(std::size_t index) { return reinterpret_cast<T*>(bytes) + index; }
};

TEST(uninitialized_relocate, moves_bytes_of_relocatable_types) {
    room<std::unique_ptr<int>> from, to;
    for (int i = 0; i < 4; ++i) std::construct_at(from.at(static_cast<std::size_t>(i)), std::make_unique<int>(i));
    const int* const first = from.at(0)->get();
    EXPECT_EQ(uninitialized_relocate(from.at(0), from.at(4), to.at(0)), to.at(4));
    EXPECT_EQ(to.at(0)->get(), first);
    EXPECT_EQ(**to.at(3), 3);
    std::destroy(to.at(0), to.at(4));
}

TEST(uninitialized_relocate, moves_and_destroys_the_others) {
    room<std::string> from, to;
    std::construct_at(from.at(0), "short");
    std::construct_at(from.at(1), 100, 'x');
    EXPECT_EQ(uninitialized_relocate(from.at(0), from.at(2), to.at(0)), to.at(2));
    EXPECT_EQ(*to.at(0), "short");
    EXPECT_EQ(*to.at(1), std::string(100, 'x'));
    std::destroy(to.at(0), to.at(2));
}

struct counts_its_moves {
    static inline int moves = 0;
    int value;
    explicit counts_its_moves(int n) : value(n) {}
    counts_its_moves(counts_its_moves&& other) noexcept : value(other.value) { ++moves; }
    ~counts_its_moves() { ++moves; }
    using headroom_is_trivially_relocatable = std::true_type;
};

TEST(uninitialized_relocate, calls_no_constructor_and_no_destructor_of_relocatable_types) {
    room<counts_its_moves> from, to;
    for (int i = 0; i < 4; ++i) std::construct_at(from.at(static_cast<std::size_t>(i)), i);
    uninitialized_relocate(from.at(0), from.at(4), to.at(0));
    EXPECT_EQ(counts_its_moves::moves, 0);
    EXPECT_EQ(to.at(3)->value, 3);
    std::destroy(to.at(0), to.at(4));
}

struct throws_on_third_move {
    static inline int alive = 0;
    static inline int moves = 0;
    throws_on_third_move() { ++alive; }
    throws_on_third_move(throws_on_third_move&&) noexcept(false) {
        if (++moves == 3) throw std::runtime_error("third");
        ++alive;
    }
    ~throws_on_third_move() { --alive; }
};

TEST(uninitialized_relocate, leaves_the_originals_alive_when_a_move_throws) {
    room<throws_on_third_move> from, to;
    for (std::size_t i = 0; i < 5; ++i) std::construct_at(from.at(i));
    EXPECT_THROW(uninitialized_relocate(from.at(0), from.at(5), to.at(0)), std::runtime_error);
    EXPECT_EQ(throws_on_third_move::alive, 5);
    std::destroy(from.at(0), from.at(5));
    EXPECT_EQ(throws_on_third_move::alive, 0);
}

TEST(uninitialized_relocate, an_empty_range_may_be_null) {
    int* const none = nullptr;
    EXPECT_EQ(uninitialized_relocate(none, none, none), nullptr);
}

constexpr int relocated_at_compile_time() {
    std::allocator<int> allocator;
    int* const from = allocator.allocate(3);
    int* const to = allocator.allocate(3);
    for (int i = 0; i < 3; ++i) std::construct_at(from + i, i + 1);
    uninitialized_relocate(from, from + 3, to);
    const int sum = to[0] + to[1] + to[2];
    std::destroy(to, to + 3);
    allocator.deallocate(from, 3);
    allocator.deallocate(to, 3);
    return sum;
}
static_assert(relocated_at_compile_time() == 6);

}    // namespace
