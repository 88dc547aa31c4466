// SPDX-License-Identifier: MIT
// Elements that compilers may classify differently, and each compiler's operations on vectors of them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

// Clang passes it in registers, and so takes it for relocatable. GCC does not know the attribute.
#if defined(__clang__)
#define IN_REGISTERS [[clang::trivial_abi]]
#else
#define IN_REGISTERS
#endif
struct IN_REGISTERS in_registers {
    int value = 0;
    in_registers() = default;
    explicit in_registers(int n) : value(n) {}
    in_registers(const in_registers& other) : value(other.value) {}
    in_registers(in_registers&& other) noexcept : value(other.value) {}
    in_registers& operator=(const in_registers&) = default;
    ~in_registers() {}
};
struct holds_one {
    in_registers part;
    holds_one() = default;
    explicit holds_one(int n) : part(n) {}
};
// Opted in; its data members have different access, so that some compilers cannot tell if a base has opted in.
struct says_so {
    using headroom_is_trivially_relocatable = std::true_type;
    int value = 0;
    says_so() = default;
    explicit says_so(int n) : value(n), more_(n) {}
    says_so(const says_so& other) : value(other.value), more_(other.more_) {}
    says_so(says_so&& other) noexcept : value(other.value), more_(other.more_) {}
    says_so& operator=(const says_so&) = default;
    ~says_so() {}

private:
    int more_ = 0;
};
struct names_itself {
    using headroom_is_trivially_relocatable = names_itself;
    int value = 0;
    names_itself() = default;
    explicit names_itself(int n) : value(n), more_(n) {}
    names_itself(const names_itself& other) : value(other.value), more_(other.more_) {}
    names_itself(names_itself&& other) noexcept : value(other.value), more_(other.more_) {}
    names_itself& operator=(const names_itself&) = default;
    ~names_itself() {}

private:
    int more_ = 0;
};
// Constructible from a number.
struct text : std::string {
    text() = default;
    explicit text(int n) : std::string(std::to_string(n)) {}
};
struct owner : std::unique_ptr<int> {
    owner() = default;
    explicit owner(int n) : std::unique_ptr<int>(new int(n)) {}
};
struct pair_of_them : std::pair<in_registers, int> {
    pair_of_them() = default;
    explicit pair_of_them(int n) : std::pair<in_registers, int>(n, n) {}
};

#define EACH_KIND(DO) \
    DO(int)           \
    DO(in_registers)  \
    DO(holds_one)     \
    DO(says_so)       \
    DO(names_itself)  \
    DO(text)          \
    DO(owner)         \
    DO(pair_of_them)

// Members of `here` and `there`, each compiled by one compiler.
#define EACH_CALL(kind)                                                    \
    static void grow(headroom::vector<kind>&, std::size_t count);          \
    static void end(headroom::vector<kind>&);                              \
    static void grow(headroom::small_vector<kind, 2>&, std::size_t count); \
    static void end(headroom::small_vector<kind, 2>&);
struct here {
    EACH_KIND(EACH_CALL)
};
struct there {
    EACH_KIND(EACH_CALL)
};
