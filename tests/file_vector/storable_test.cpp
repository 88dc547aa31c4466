// SPDX-License-Identifier: MIT
// Element types that may be stored in a file.
// Labels: core
#include <headroom/detail/file/storable.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace {

enum class colour : short {};
struct silent {
    int a;
};
struct outspoken {
    using headroom_is_storable = std::true_type;
    int a;
};
struct by_its_name {
    using headroom_is_storable = by_its_name;
    explicit by_its_name(int n) : a(n), b(n) {}
    [[nodiscard]] int sum() const { return a + b; }
    int a;

private:
    int b;
};
struct unwilling {
    using headroom_is_storable = std::false_type;
    int a;
};
struct not_trivial {
    using headroom_is_storable = std::true_type;
    not_trivial(const not_trivial&) {}
    int a;
};
struct somebody_elses {
    int a;
};

// The opt-in is not inherited: the derived class may add a pointer.
struct with_a_pointer : outspoken {
    const char* text;
};
struct with_a_constructor : outspoken {
    with_a_constructor() : outspoken{1}, text("") {}
    const char* text;
};
struct twice_removed : with_a_pointer {};
struct of_two : silent, outspoken {};
struct of_a_name : by_its_name {
    using by_its_name::by_its_name;
    const char* text = "";
};
struct says_it_again : with_a_pointer {
    using headroom_is_storable = says_it_again;
};

struct hidden {
    int a;
};

}    // namespace

namespace shop {

struct order {
    int a;
};
struct structure {
    int a;
};
template <class T, int Count>
struct of {
    T a;
};
struct a_name_of_more_than_sixty_three_letters_which_is_what_a_tag_holds_a {
    int a;
};
struct a_name_of_more_than_sixty_three_letters_which_is_what_a_tag_holds_b {
    int a;
};

}    // namespace shop

template <>
inline constexpr bool headroom::storable<somebody_elses> = true;

namespace {

using headroom::storable;

TEST(storable_elements, are_numbers_and_arrays_of_them) {
    static_assert(storable<int> && storable<double> && storable<bool> && storable<char> && storable<std::byte> &&
                  storable<colour>);
    static_assert(storable<int[3]> && storable<std::array<double, 4>> && storable<std::array<colour[2], 4>>);
    static_assert(!storable<int*> && !storable<const int> && !storable<volatile int> && !storable<int* [2]>);
    static_assert(!storable<int&> && !storable<void> && !storable<std::nullptr_t> && !storable<int (*)()>);
}

TEST(storable_elements, are_classes_that_say_so) {
    static_assert(storable<outspoken> && storable<by_its_name> && storable<somebody_elses>);
    static_assert(storable<outspoken[2]> && storable<std::array<by_its_name, 2>>);
    static_assert(!storable<silent> && !storable<unwilling> && !storable<not_trivial> && !storable<std::string>);
    static_assert(!storable<std::pair<int, int*>> && !storable<std::array<silent, 2>>);
}

// Tags are type names without differences between compilers.
TEST(storable_elements, are_called_by_their_names) {
    const auto tag = [](auto of) { return std::string(headroom::detail::identity_of<decltype(of)>(nullptr).tag.data()); };
    EXPECT_EQ(tag(shop::order{}), "shop::order");
    EXPECT_EQ(tag(shop::of<shop::order, 3>{}), "shop::of<shop::order,3>");
    EXPECT_EQ(tag(shop::of<unsigned char, 3>{}), "shop::of<unsigned char,3>");
    EXPECT_EQ(tag(std::array<shop::structure, 2>{}), "shop::structure[2]");
    EXPECT_EQ(tag(hidden{}), "{anonymous}::hidden");
    // Names that are too long differ where they are cut.
    const std::string a = tag(shop::a_name_of_more_than_sixty_three_letters_which_is_what_a_tag_holds_a{});
    const std::string b = tag(shop::a_name_of_more_than_sixty_three_letters_which_is_what_a_tag_holds_b{});
    EXPECT_EQ(a.size(), 63U);
    EXPECT_NE(a, b);
    EXPECT_EQ(a.substr(0, 46), b.substr(0, 46));
    static_assert(headroom::detail::identity_of<int>(nullptr).tag[0] == 'i');
    static_assert(headroom::detail::identity_of<shop::order>(nullptr).tag[6] == 'o');
}

TEST(storable_elements, are_not_what_derives_from_such_a_class) {
    static_assert(!storable<with_a_pointer> && !storable<with_a_constructor> && !storable<twice_removed> && !storable<of_two>);
    static_assert(!storable<of_a_name> && !storable<with_a_pointer[2]> && !storable<std::array<with_a_constructor, 2>>);
    static_assert(storable<says_it_again>);
}

}    // namespace
