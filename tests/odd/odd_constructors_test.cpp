// SPDX-License-Identifier: MIT
// Labels: core
// Allocators whose construct() accepts only some arguments and marks its elements: called for each element like by std::vector,
// with and without growth. One that also destroys records the addresses of live elements.
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/vector.hpp>

#include <gtest/gtest.h>

namespace {

// Trivially copyable, not, and relocatable elements. Each can be built from two ints.
struct numbers {
    int value;
    int marks;
};
struct text {
    text() = default;
    text(int n, int m) : value(n), marks(m) {}
    int value = 0;
    int marks = 0;
    std::string letters = "a";
};
struct relocatable {
    relocatable() = default;
    relocatable(int n, int m) noexcept : value(n), marks(m) {}
    relocatable(const relocatable& other) noexcept : value(other.value), marks(other.marks) {}
    relocatable& operator=(const relocatable& other) noexcept = default;
    ~relocatable() {}
    int value = 0;
    int marks = 0;
    using headroom_is_trivially_relocatable = relocatable;
};

std::set<const void*> built;    // addresses of the elements built by an allocator that also destroys

// `Takes` selects the arguments that construct() accepts.
template <class T, class Takes>
struct marking {
    using value_type = T;
    template <class U>
    struct rebind {
        using other = marking<U, Takes>;
    };
    marking() = default;
    template <class U>
    marking(const marking<U, Takes>&) {}
    T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
    void deallocate(T* memory, std::size_t count) { std::allocator<T>().deallocate(memory, count); }
    friend bool operator==(const marking&, const marking&) { return true; }

    template <class... Args>
        requires(Takes::template these<T, Args && ...>)
    void construct(T* place, Args&&... args) {
        ::new (static_cast<void*>(place)) T(std::forward<Args>(args)...);
        ++place->marks;
        if constexpr (Takes::destroys) {
            EXPECT_TRUE(built.insert(place).second);
        }
    }
    void destroy(T* place)
        requires(Takes::destroys)
    {
        EXPECT_EQ(built.erase(place), 1U);
        place->~T();
    }
};
struct nothing {
    template <class, class... Args>
    static constexpr bool these = sizeof...(Args) == 0;
    static constexpr bool destroys = false;
};
struct two_numbers {
    template <class, class... Args>
    static constexpr bool these = sizeof...(Args) == 2;
    static constexpr bool destroys = false;
};
struct a_copy {
    template <class T, class... Args>
    static constexpr bool these =
        (std::is_same_v<const T&, const std::remove_reference_t<Args>&> && ... && (sizeof...(Args) == 1)) &&
        (std::is_lvalue_reference_v<Args> && ...);
    static constexpr bool destroys = false;
};
struct what_is_moved {
    template <class T, class... Args>
    static constexpr bool these = (std::is_same_v<T&&, Args> && ... && (sizeof...(Args) == 1));
    static constexpr bool destroys = false;
};
struct everything {
    template <class, class...>
    static constexpr bool these = true;
    static constexpr bool destroys = true;
};

constexpr std::size_t few = 5;

template <class T>
T made(int n) {
    return T(n, 0);
}
template <class Vector>
Vector some(std::size_t capacity) {
    Vector v;
    v.reserve(capacity);
    for (int n = 0; n != static_cast<int>(few); ++n) v.push_back(made<typename Vector::value_type>(n));
    return v;
}

template <class Vector>
inline constexpr bool ours = requires(Vector v) { v.try_emplace_back(); };

// Runs each operation on a vector of five elements. Operations that std::vector lacks are compared with its nearest one.
template <class Vector, class With>
void each_operation(With with) {
    using T = typename Vector::value_type;
    static const T value = made<T>(70);
    static const std::vector<T> range{made<T>(80), made<T>(81), made<T>(82)};
    with("push_back(value)", [](Vector& v) { v.push_back(value); });
    with("push_back(element)", [](Vector& v) { v.push_back(v[1]); });
    with("push_back(temporary)", [](Vector& v) { v.push_back(made<T>(71)); });
    with("emplace_back()", [](Vector& v) { v.emplace_back(); });
    with("emplace_back(two)", [](Vector& v) { v.emplace_back(7, 0); });
    with("emplace_back(value)", [](Vector& v) { v.emplace_back(value); });
    with("try_emplace_back(two)", [](Vector& v) {
        if constexpr (ours<Vector>) {
            EXPECT_NE(v.try_emplace_back(7, 0), nullptr);
        } else {
            v.emplace_back(7, 0);
        }
    });
    with("try_push_back", [](Vector& v) {
        if constexpr (ours<Vector>) {
            EXPECT_NE(v.try_push_back(value), nullptr);
        } else {
            v.push_back(value);
        }
    });
    with("unchecked_emplace_back", [](Vector& v) {
        v.reserve(v.size() + 1);
        if constexpr (ours<Vector>) {
            v.unchecked_emplace_back(7, 0);
        } else {
            v.emplace_back(7, 0);
        }
    });
    with("emplace at the front", [](Vector& v) { v.emplace(v.begin(), 7, 0); });
    with("emplace at the end", [](Vector& v) { v.emplace(v.end(), 7, 0); });
    with("emplace nothing", [](Vector& v) { v.emplace(v.begin() + 1); });
    with("insert(value)", [](Vector& v) { v.insert(v.begin() + 1, value); });
    with("insert(element)", [](Vector& v) { v.insert(v.begin() + 1, v[3]); });
    with("insert(temporary)", [](Vector& v) { v.insert(v.begin() + 1, made<T>(71)); });
    with("insert(3, value)", [](Vector& v) { v.insert(v.begin() + 1, 3, value); });
    with("insert(range)", [](Vector& v) { v.insert(v.begin() + 1, range.begin(), range.end()); });
    with("append(range)", [](Vector& v) { v.insert(v.end(), range.begin(), range.end()); });
    with("append what is moved", [](Vector& v) {
        std::vector<T> source(range);
        v.insert(v.end(), std::make_move_iterator(source.begin()), std::make_move_iterator(source.end()));
    });
    with("append_range", [](Vector& v) {
        if constexpr (ours<Vector>) {
            v.append_range(range);
        } else {
            v.insert(v.end(), range.begin(), range.end());
        }
    });
    with("append_default_init", [](Vector& v) {
        if constexpr (ours<Vector>) {
            if (std::is_trivial_v<T>) {
                v.resize(v.size() + 3);
            } else {
                v.append_default_init(3);
            }
        } else {
            v.resize(v.size() + 3);
        }
    });
    with("resize(8)", [](Vector& v) { v.resize(8); });
    with("resize(8, value)", [](Vector& v) { v.resize(8, value); });
    with("resize(2)", [](Vector& v) { v.resize(2); });
    with("assign(3, value)", [](Vector& v) { v.assign(3, value); });
    with("assign(9, value)", [](Vector& v) { v.assign(9, value); });
    with("assign(range)", [](Vector& v) { v.assign(range.begin(), range.end()); });
    with("assign a copy", [](Vector& v) {
        const Vector longer(9, value);
        v = longer;
    });
    with("a copy", [](Vector& v) {
        Vector copy(v);
        v.swap(copy);
    });
    with("what is moved", [](Vector& v) {
        Vector other(std::move(v));
        v = std::move(other);
    });
    with("reserve", [](Vector& v) { v.reserve(v.capacity() + 1); });
    with("shrink_to_fit", [](Vector& v) {
        v.reserve(v.size() + 3);
        v.shrink_to_fit();
    });
    with("erase one", [](Vector& v) { v.erase(v.begin() + 1); });
    with("erase two", [](Vector& v) { v.erase(v.begin() + 1, v.begin() + 3); });
    with("pop_back", [](Vector& v) { v.pop_back(); });
    with("clear", [](Vector& v) { v.clear(); });
}

// Elements after an operation: values, and if construct() took part in each. Not how often: the number of copies is left to the
// implementation.
struct outcome {
    std::string operation;
    std::vector<std::pair<int, bool>> elements;
};
template <class Vector>
std::vector<outcome> outcomes(std::size_t capacity) {
    std::vector<outcome> result;
    each_operation<Vector>([&](const char* name, auto operation) {
        auto v = some<Vector>(capacity);
        operation(v);
        outcome left{name, {}};
        for (const auto& element : v) left.elements.emplace_back(element.value, element.marks != 0);
        result.push_back(std::move(left));
        if constexpr (std::is_same_v<typename Vector::allocator_type, marking<typename Vector::value_type, everything>>) {
            EXPECT_EQ(built.size(), v.size()) << name;
            for (const auto& element : v) EXPECT_TRUE(built.contains(std::addressof(element))) << name;
        }
    });
    EXPECT_TRUE(built.empty());
    return result;
}

template <class T, class Takes>
void is_asked_as_std_vector_asks_it() {
    for (const std::size_t capacity : {few, 50 * few}) {
        const auto theirs = outcomes<std::vector<T, marking<T, Takes>>>(capacity);
        const auto mine = outcomes<headroom::vector<T, marking<T, Takes>>>(capacity);
        ASSERT_EQ(theirs.size(), mine.size());
        for (std::size_t i = 0; i != mine.size(); ++i) {
#if defined(_MSVC_STL_VERSION)
            // MSVC's vector assigns what it has built elsewhere.
            if (mine[i].operation == "insert(range)" || mine[i].operation == "insert(temporary)") continue;
#endif
            EXPECT_EQ(mine[i].elements, theirs[i].elements)
                << mine[i].operation << (capacity == few ? ", full" : ", with room") << ", " << typeid(T).name();
        }
    }
}
template <class Takes>
void whatever_the_elements() {
#ifdef _LIBCPP_VERSION
    GTEST_SKIP() << "libc++ assigns where libstdc++ constructs and moves";
#endif
#ifdef __cpp_aggregate_paren_init    // Clang from version 16 on
    is_asked_as_std_vector_asks_it<numbers, Takes>();
#endif
    is_asked_as_std_vector_asks_it<text, Takes>();
    is_asked_as_std_vector_asks_it<relocatable, Takes>();
}

TEST(odd_constructors, one_that_takes_nothing) { whatever_the_elements<nothing>(); }
TEST(odd_constructors, one_that_takes_two_numbers) { whatever_the_elements<two_numbers>(); }
TEST(odd_constructors, one_that_takes_a_copy) { whatever_the_elements<a_copy>(); }
TEST(odd_constructors, one_that_takes_what_is_moved) { whatever_the_elements<what_is_moved>(); }
TEST(odd_constructors, one_that_takes_everything_and_destroys) { whatever_the_elements<everything>(); }

}    // namespace
