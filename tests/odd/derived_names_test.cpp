// SPDX-License-Identifier: MIT
// Labels: core
// A class derived from a container finds the container's members before the program's names: a template parameter, a type, a
// function such as floor() or open(). So members outside the interface end in an underscore.
// tests/CMakeLists.txt makes own_names.inc from the headers: each of their words, except the interface's.
#include <string>
#include <type_traits>

#include <headroom/file_vector.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

namespace {

struct mine {};

using vector_of_int = headroom::vector<int>;
using settled_vector_of_int = headroom::settled_vector<int>;
using file_vector_of_int = headroom::file_vector<int>;
using small_vector_of_int = headroom::small_vector<int, 4>;

#define HEADER_NAME(name)                                                           \
    template <class name>                                                           \
    struct vector_and_##name : vector_of_int {                                      \
        using found_ = name;                                                        \
    };                                                                              \
    static_assert(std::is_same_v<typename vector_and_##name<mine>::found_, mine>);  \
    template <class name>                                                           \
    struct settled_and_##name : settled_vector_of_int {                             \
        using found_ = name;                                                        \
    };                                                                              \
    static_assert(std::is_same_v<typename settled_and_##name<mine>::found_, mine>); \
    template <class name>                                                           \
    struct small_and_##name : small_vector_of_int {                                 \
        using found_ = name;                                                        \
    };                                                                              \
    static_assert(std::is_same_v<typename small_and_##name<mine>::found_, mine>);   \
    template <class name>                                                           \
    struct filed_and_##name : file_vector_of_int {                                  \
        using found_ = name;                                                        \
    };                                                                              \
    static_assert(std::is_same_v<typename filed_and_##name<mine>::found_, mine>);
#include "odd/own_names.inc"
#undef HEADER_NAME

// Every single capital letter, and common names of template parameters.
// clang-format off
#define PARAMETERS(WITH) \
    WITH(A) WITH(B) WITH(C) WITH(D) WITH(E) WITH(F) WITH(G) WITH(H) WITH(I) WITH(J) WITH(K) WITH(L) WITH(M) WITH(N) \
    WITH(O) WITH(P) WITH(Q) WITH(R) WITH(S) WITH(T) WITH(U) WITH(V) WITH(W) WITH(X) WITH(Y) WITH(Z) WITH(Tp) \
    WITH(Type) WITH(Element) WITH(Value) WITH(Key) WITH(Alloc) WITH(Allocator) WITH(Policy) WITH(Memory) WITH(Store) \
    WITH(Base) WITH(Args) WITH(It) WITH(Iterator) WITH(Range) WITH(Source) WITH(Container) WITH(Self) WITH(Pointer) \
    WITH(Growth)
// clang-format on

#define DERIVED(name)                                       \
    template <class name>                                   \
    struct vector_##name : headroom::vector<int> {          \
        using found = name;                                 \
    };                                                      \
    template <class name>                                   \
    struct settled_##name : headroom::settled_vector<int> { \
        using found = name;                                 \
    };                                                      \
    template <class name>                                   \
    struct filed_##name : headroom::file_vector<int> {      \
        using found = name;                                 \
    };
PARAMETERS(DERIVED)
#undef DERIVED

TEST(derived_names, a_template_finds_its_own_parameters) {
#define FOUND(name)                                                                     \
    EXPECT_TRUE((std::is_same_v<typename vector_##name<mine>::found, mine>)) << #name;  \
    EXPECT_TRUE((std::is_same_v<typename settled_##name<mine>::found, mine>)) << #name; \
    EXPECT_TRUE((std::is_same_v<typename filed_##name<mine>::found, mine>)) << #name;
    PARAMETERS(FOUND)
#undef FOUND
}

}    // namespace
