// SPDX-License-Identifier: MIT
// The element types that every container is tested with, and the counters of their constructions, copies and moves.
//
// make<T>(n) builds the n-th value of a type and number(x) returns n, so that one test body serves all types: it compares numbers
// with the content of a std::vector<int>.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headroom_test {

// Thrown by a tracked element, counting allocator or throwing iterator at step `fail_at`.
struct planned_failure : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "planned failure"; }
};

// Counters of tracked elements since the last open_book().
struct ledger {
    long live = 0;       // built and not yet destroyed
    long built = 0;      // by any constructor
    long copies = 0;     // by copy constructor or copy assignment
    long moves = 0;      // by move constructor or move assignment
    long steps = 0;      // operations that could have thrown
    long fail_at = 0;    // the step that throws; 0 for none
};
inline ledger book;

inline void open_book(long fail_at = 0) {
    const long live = book.live;
    book = ledger{};
    book.live = live;
    book.fail_at = fail_at;
}

// Counts a step that may fail; throws at step `fail_at`.
inline void step() {
    if (++book.steps == book.fail_at) throw planned_failure{};
}

// Ends the program: the container used an object that is not built or already destroyed.
[[noreturn]] inline void broken(const char* what) {
    std::fprintf(stderr, "element misused: %s\n", what);
    std::abort();
}

// Properties of a kind of tracked element.
struct tracked_traits {
    bool copyable = true;
    bool nothrow_move = true;
    bool relocatable = false;    // opted into relocation, so it cannot store its own address
};

inline constexpr int moved_from = -1;

// Stores its own address, or owns a heap block if relocatable, and checks it at every use. Aborts on use before construction or
// after destruction. Counts in `book`; copies, and moves that may throw, are steps.
template <tracked_traits Traits>
class tracked {
public:
    using headroom_is_trivially_relocatable = std::bool_constant<Traits.relocatable>;

    tracked() : tracked(0) {}
    tracked(int number) : number_(number) {    // NOLINT: implicit, so that braced lists of numbers work
        step();
        born();
    }
    tracked(const tracked& other)
        requires(Traits.copyable)
        : number_(other.checked().number_) {
        step();
        ++book.copies;
        born();
    }
    tracked(tracked&& other) noexcept(Traits.nothrow_move) : number_(other.checked().number_) {
        if constexpr (!Traits.nothrow_move) step();
        other.number_ = moved_from;
        ++book.moves;
        born();
    }
    tracked& operator=(const tracked& other)
        requires(Traits.copyable)
    {
        (void)checked();
        (void)other.checked();
        step();
        number_ = other.number_;
        ++book.copies;
        return *this;
    }
    tracked& operator=(tracked&& other) noexcept(Traits.nothrow_move) {
        (void)checked();
        (void)other.checked();
        if constexpr (!Traits.nothrow_move) step();
        if (this != &other) number_ = std::exchange(other.number_, moved_from);
        ++book.moves;
        return *this;
    }
    ~tracked() {
        (void)checked();
        // Volatile: a store to an object about to be destroyed is dead to the compiler, which would drop the mark.
        const_cast<const void* volatile&>(mark_) = nullptr;
        if constexpr (Traits.relocatable) delete box_;
        --book.live;
    }

    [[nodiscard]] int number() const { return checked().number_; }

    friend bool operator==(const tracked& a, const tracked& b) { return a.number() == b.number(); }
    friend std::strong_ordering operator<=>(const tracked& a, const tracked& b) { return a.number() <=> b.number(); }

private:
    void born() {
        if constexpr (Traits.relocatable) box_ = new char;
        mark_ = expected_mark();
        ++book.live;
        ++book.built;
    }
    [[nodiscard]] const void* expected_mark() const {
        if constexpr (Traits.relocatable) return &book;
        return this;
    }
    [[nodiscard]] const tracked& checked() const {
        if (const_cast<const void* const volatile&>(mark_) != expected_mark()) {
            broken("not alive where it stands: never built, destroyed already, or moved as bytes");
        }
        return *this;
    }

    const void* mark_ = nullptr;
    char* box_ = nullptr;    // shows a lost or twice destroyed relocatable element to the sanitizers
    int number_ = 0;
};

// Knows its own address and moves without throwing: containers move it.
using self_referential = tracked<tracked_traits{}>;
// Its move may throw: containers with the strong guarantee copy it.
using throwing = tracked<tracked_traits{.nothrow_move = false}>;
using move_only = tracked<tracked_traits{.copyable = false}>;
using throwing_move_only = tracked<tracked_traits{.copyable = false, .nothrow_move = false}>;
// Not trivially copyable, but opted into relocation.
using opted_in = tracked<tracked_traits{.relocatable = true}>;
using throwing_opted_in = tracked<tracked_traits{.nothrow_move = false, .relocatable = true}>;

template <class T>
inline constexpr bool is_tracked = false;
template <tracked_traits Traits>
inline constexpr bool is_tracked<tracked<Traits>> = true;

// Alignment above malloc's: a vector of these allocates by operator new, which a test can make fail.
template <class Tracked>
struct alignas(64) aligned : Tracked {
    using Tracked::Tracked;
};

// Alignment above malloc's, and trivially copyable: realloc may not keep the alignment.
struct alignas(64) overaligned {
    int number = 0;
    friend auto operator<=>(const overaligned&, const overaligned&) = default;
};

// Larger than a page. The first and last bytes are checked.
struct big {
    int number = 0;
    std::array<int, 1250> ballast{};
    int last = 0;
    friend bool operator==(const big& a, const big& b) { return a.number == b.number && a.last == b.last; }
    friend std::strong_ordering operator<=>(const big& a, const big& b) { return a.number <=> b.number; }
};

// 12 bytes: a capacity of these seldom ends at a page boundary or an 8-byte granule of AddressSanitizer.
struct three_ints {
    int number = 0;
    int ballast = 0;
    int last = 0;
    friend auto operator<=>(const three_ints&, const three_ints&) = default;
};

using ten_ints = std::array<int, 10>;

template <class T>
[[nodiscard]] T make(int n) {
    if constexpr (std::is_same_v<T, std::string>) {
        // Every second string is too long for the small buffer.
        return n % 2 == 0 ? std::to_string(n) : std::to_string(n) + " and more than a small string can hold";
    } else if constexpr (std::is_base_of_v<std::string, T>) {
        return T(make<std::string>(n));
    } else if constexpr (std::is_same_v<T, std::unique_ptr<int>>) {
        return std::make_unique<int>(n);
    } else if constexpr (std::is_same_v<T, ten_ints>) {
        return ten_ints{n, 0, 0, 0, 0, 0, 0, 0, 0, n};
    } else if constexpr (std::is_same_v<T, big>) {
        return big{n, {}, n};
    } else if constexpr (std::is_same_v<T, three_ints>) {
        return three_ints{n, 0, n};
    } else if constexpr (std::is_same_v<T, overaligned>) {
        return overaligned{n};
    } else {
        return T(n);
    }
}

inline int number(int x) { return x; }
inline int number(long x) { return static_cast<int>(x); }
inline int number(bool x) { return x ? 1 : 0; }
inline int number(const std::string& x) { return x.empty() ? moved_from : std::atoi(x.c_str()); }
inline int number(const std::unique_ptr<int>& x) { return x ? *x : moved_from; }
inline int number(const ten_ints& x) {
    if (x[0] != x[9]) broken("torn");
    return x[0];
}
inline int number(const big& x) {
    if (x.number != x.last) broken("torn");
    return x.number;
}
inline int number(const three_ints& x) {
    if (x.number != x.last) broken("torn");
    return x.number;
}
inline int number(const overaligned& x) {
    if (reinterpret_cast<std::uintptr_t>(&x) % alignof(overaligned) != 0) broken("misaligned");
    return x.number;
}
template <tracked_traits Traits>
int number(const tracked<Traits>& x) {
    return x.number();
}

using numbers_list = std::vector<int>;

// Returns the numbers of all elements; checks each element.
template <class Range>
[[nodiscard]] numbers_list numbers(const Range& range) {
    numbers_list result;
    for (const auto& x : range) result.push_back(number(x));
    return result;
}

// Returns first, first + 1, ...: the content of filled().
[[nodiscard]] inline numbers_list counted(std::size_t count, int first = 0) {
    numbers_list result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(first + static_cast<int>(i));
    return result;
}

// Appends first, first + 1, ..., one by one.
template <class Container>
void append(Container& container, std::size_t count, int first = 0) {
    for (std::size_t i = 0; i < count; ++i) {
        container.push_back(make<typename Container::value_type>(first + static_cast<int>(i)));
    }
}

template <class Container>
[[nodiscard]] Container filled(std::size_t count, int first = 0) {
    Container result;
    append(result, count, first);
    return result;
}

// Returns a container with at least `count` elements and size() == capacity().
template <class Container>
[[nodiscard]] Container full(std::size_t count) {
    Container result = filled<Container>(count);
    while (result.size() < result.capacity()) append(result, 1, static_cast<int>(result.size()));
    return result;
}

// Returns a container with `count` elements and capacity for `spare` more.
template <class Container>
[[nodiscard]] Container roomy(std::size_t count, std::size_t spare) {
    Container result = filled<Container>(count);
    result.reserve(count + spare);
    return result;
}

}    // namespace headroom_test
