// The element kinds that every container is tried with, and the book that counts what happens to them.
//
// make<T>(n) builds the n-th value of a kind and number(x) tells which one it is, so that one test body serves all kinds:
// it works on plain numbers and compares them with what std::vector<int> would hold.
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

// Thrown by a tracked element (or a counting allocator, or a throwing iterator) when its turn to fail has come.
struct planned_failure : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "planned failure"; }
};

// What happened to tracked elements since the last open_book().
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

// Passes one step that may fail, and fails it when its turn has come.
inline void step() {
    if (++book.steps == book.fail_at) throw planned_failure{};
}

// A broken object means that the container reads what it has not built, or has already destroyed: no test may go on.
[[noreturn]] inline void broken(const char* what) {
    std::fprintf(stderr, "element misused: %s\n", what);
    std::abort();
}

// What sets one kind of tracked element apart from another.
struct tracked_traits {
    bool copyable = true;
    bool nothrow_move = true;
    bool relocatable = false;    // says that it may be moved as bytes, and so cannot know its own address
};

inline constexpr int moved_from = -1;

// Stores its own address (or, when relocatable, owns a block of heap) and checks it at every use; aborts on use before
// construction or after destruction; counts in `book`; its copies, and its moves if they may throw, are steps.
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
        // Volatile: the compiler knows that nobody may read a dead object, and would drop the mark that catches who does.
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
    char* box_ = nullptr;    // lets the sanitizers see a relocatable element that is lost or destroyed twice
    int number_ = 0;
};

// Knows its own address and never throws when moved: containers move it.
using self_referential = tracked<tracked_traits{}>;
// Its move may throw, so that containers which promise not to lose anything must copy it.
using throwing = tracked<tracked_traits{.nothrow_move = false}>;
using move_only = tracked<tracked_traits{.copyable = false}>;
using throwing_move_only = tracked<tracked_traits{.copyable = false, .nothrow_move = false}>;
// Not trivially copyable, yet says that it may be moved as bytes.
using opted_in = tracked<tracked_traits{.relocatable = true}>;
using throwing_opted_in = tracked<tracked_traits{.nothrow_move = false, .relocatable = true}>;

template <class T>
inline constexpr bool is_tracked = false;
template <tracked_traits Traits>
inline constexpr bool is_tracked<tracked<Traits>> = true;

// More aligned than malloc promises: a vector's heap is operator new's then, which a test can have refuse.
template <class Tracked>
struct alignas(64) aligned : Tracked {
    using Tracked::Tracked;
};

// More aligned than malloc promises, though trivially copyable: realloc may not keep its alignment.
struct alignas(64) overaligned {
    int number = 0;
    friend auto operator<=>(const overaligned&, const overaligned&) = default;
};

// Larger than a page, so that no whole number of elements fits one. The first and the last bytes are checked.
struct big {
    int number = 0;
    std::array<int, 1250> ballast{};
    int last = 0;
    friend bool operator==(const big& a, const big& b) { return a.number == b.number && a.last == b.last; }
    friend std::strong_ordering operator<=>(const big& a, const big& b) { return a.number <=> b.number; }
};

// Twelve bytes: a capacity of these seldom ends where a page, or eight bytes of AddressSanitizer's, ends.
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
        // Every other string is too long for the buffer inside the object.
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

// The numbers of all elements of a range; each element is checked on the way.
template <class Range>
[[nodiscard]] numbers_list numbers(const Range& range) {
    numbers_list result;
    for (const auto& x : range) result.push_back(number(x));
    return result;
}

// first, first + 1, ... : what filled() holds.
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

// At least `count` elements, and not one more without growing.
template <class Container>
[[nodiscard]] Container full(std::size_t count) {
    Container result = filled<Container>(count);
    while (result.size() < result.capacity()) append(result, 1, static_cast<int>(result.size()));
    return result;
}

// Exactly `count` elements, and room for `spare` more without growing.
template <class Container>
[[nodiscard]] Container roomy(std::size_t count, std::size_t spare) {
    Container result = filled<Container>(count);
    result.reserve(count + spare);
    return result;
}

}    // namespace headroom_test
