// SPDX-License-Identifier: MIT
// Two element types with every oddity that is legal, for the contract suites and the fuzzers: one that may be relocated as bytes,
// and one that must not, although it looks so.
#pragma once

#include <compare>
#include <memory>
#include <type_traits>
#include <utility>

#include "support/elements.hpp"

namespace headroom_test {

// Result of comparing odd elements: convertible to bool as far as the standard requires, and no further.
class truth {
public:
    explicit constexpr truth(bool holds) : holds_(holds) {}
    truth(const truth&) = delete;
    truth& operator=(const truth&) = delete;
    constexpr operator bool() const { return holds_; }
    [[nodiscard]] static const truth& of(bool holds) {
        static const truth yes(true);
        static const truth no(false);
        return holds ? yes : no;
    }

private:
    bool holds_;
};

// Deletes operators that containers must not use on elements.
struct odd_operators {
    void operator&() const = delete;
    template <class Any>
    friend void operator,(const odd_operators&, Any&&) = delete;
    template <class Any>
    friend void operator,(Any&&, const odd_operators&) = delete;
};

// 12 bytes, trivially copyable, with a volatile member. A mutable element selects the constructor and the assignment from Any&,
// which do not copy, before the copying ones.
class odd_value : odd_operators {
public:
    odd_value() = default;
    explicit odd_value(int n) : number_(n), twice_(n) {}
    template <class Any>
    explicit odd_value(Any&) : number_(taken) {}
    odd_value(const odd_value&) = default;
    odd_value(odd_value&&) = default;
    odd_value& operator=(const odd_value&) = default;
    odd_value& operator=(odd_value&&) = default;
    template <class Any>
    odd_value& operator=(Any&) {
        number_ = taken;
        return *this;
    }

    [[nodiscard]] int number() const {
        if (number_ != taken && number_ != twice_) broken("torn");
        return number_;
    }

    friend const truth& operator==(const odd_value& a, const odd_value& b) { return truth::of(a.number_ == b.number_); }
    friend const truth& operator<(const odd_value& a, const odd_value& b) { return truth::of(a.number_ < b.number_); }

    // Number of an element made through Any&.
    static constexpr int taken = -1000;

private:
    int number_ = 0;
    volatile int twice_ = 0;
    char rest_[4] = {};
};
static_assert(std::is_trivially_copyable_v<odd_value> && sizeof(odd_value) == 12);

// Inherits the opt-in for relocation, which does not hold for it: it stores its own address.
class odd_child : public opted_in, odd_operators {
public:
    using opted_in::opted_in;
    odd_child() = default;
    odd_child(const odd_child& other) : opted_in(other.checked()) {}
    odd_child(odd_child&& other) noexcept : opted_in(std::move(other.checked())) {}
    odd_child& operator=(const odd_child& other) {
        checked().opted_in::operator=(other.checked());
        return *this;
    }
    odd_child& operator=(odd_child&& other) noexcept {
        checked().opted_in::operator=(std::move(other.checked()));
        return *this;
    }
    ~odd_child() { (void)checked(); }

    [[nodiscard]] int number() const { return checked().opted_in::number(); }

    friend const truth& operator==(const odd_child& a, const odd_child& b) { return truth::of(a.number() == b.number()); }
    friend const truth& operator<(const odd_child& a, const odd_child& b) { return truth::of(a.number() < b.number()); }

private:
    template <class Self>
    static Self& checked(Self& self) {
        if (self.built_at_ != std::addressof(self)) broken("moved as bytes, because its base may be");
        return self;
    }
    odd_child& checked() { return checked(*this); }
    [[nodiscard]] const odd_child& checked() const { return checked(*this); }

    const odd_child* const built_at_ = this;
};
template <>
inline constexpr bool is_tracked<odd_child> = true;

inline int number(const odd_value& x) { return x.number(); }
inline int number(const odd_child& x) { return x.number(); }

// Returns the number of the element that emplacing the n-th mutable element of the container makes.
template <class T>
[[nodiscard]] int emplaced_from_mutable(int n) {
    return std::is_same_v<T, odd_value> ? odd_value::taken : n;
}

}    // namespace headroom_test
