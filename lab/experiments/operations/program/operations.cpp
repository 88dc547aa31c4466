// SPDX-License-Identifier: MIT
// Times every operation of one container with one kind of element, and prints lines of "operation elements nanoseconds".
//
// measure.cpp defines CONTAINER and ELEMENT, the numbers below, and PLACE: the bytes by which the code is shifted. The heap is shifted by
// a multiple of them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#if CONTAINER == 0
#include <vector>
template <class T>
using container = std::vector<T>;
#elif CONTAINER == 1
#include <headroom/vector.hpp>
template <class T>
using container = headroom::vector<T>;
#elif CONTAINER == 2
#include <headroom/settled_vector.hpp>
template <class T>
using container = headroom::settled_vector<T>;
#elif CONTAINER == 3
#include <headroom/small_vector.hpp>
template <class T>
using container = headroom::small_vector<T, 8>;
#elif CONTAINER == 4
#include <boost/container/vector.hpp>
template <class T>
using container = boost::container::vector<T>;
#elif CONTAINER == 5
#include <boost/container/small_vector.hpp>
template <class T>
using container = boost::container::small_vector<T, 8>;
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
asm(".text\n.skip " TEXT(PLACE) ", 0x90\n");

namespace {

template <std::size_t Ints>
struct ints {
    int value[Ints];
    friend bool operator==(const ints& a, const ints& b) { return std::equal(a.value, a.value + Ints, b.value); }
};

#if ELEMENT == 0
using element = unsigned char;
#elif ELEMENT == 1
using element = int;
#elif ELEMENT == 2
using element = ints<3>;
#elif ELEMENT == 3
using element = ints<4>;
#elif ELEMENT == 4
using element = ints<6>;
#elif ELEMENT == 5
using element = ints<12>;
#elif ELEMENT == 6
using element = ints<16>;
#elif ELEMENT == 7
using element = std::string;
#elif ELEMENT == 8
using element = std::unique_ptr<int>;
#endif
constexpr bool copyable = std::is_copy_constructible_v<element>;

template <class T = element>
T made(std::size_t i) {
    if constexpr (std::is_same_v<T, std::string>) {
        return std::string(i % 2 == 0 ? 8 : 24, static_cast<char>('a' + i % 26));
    } else if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(i);
    } else if constexpr (std::is_copy_constructible_v<T>) {
        return T{{static_cast<int>(i)}};
    } else {
        return i % 2 == 0 ? T() : T(new int(static_cast<int>(i)));
    }
}
template <class T>
int seen(const T& one) {
    if constexpr (std::is_same_v<T, std::string>) {
        return one.empty() ? 0 : one[0];
    } else if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<int>(one);
    } else if constexpr (std::is_copy_constructible_v<T>) {
        return one.value[0];
    } else {
        return one ? 1 : 0;
    }
}

// Keeps the compiler from dropping what is computed, and from knowing what a container holds.
template <class T>
[[gnu::always_inline]] inline void keep(T& what) {
    asm volatile("" : : "r"(std::addressof(what)) : "memory");
}

// Prints the least time of one call of `run`, of nine rounds of at least 50 us.
template <class Run>
[[gnu::noinline]] void time(const char* operation, std::size_t count, Run run) {
    using clock = std::chrono::steady_clock;
    std::size_t calls = 1;
    double best = 1e18;
    for (int round = 0; round < 9;) {
        const clock::time_point begin = clock::now();
        for (std::size_t i = 0; i < calls; ++i) run();
        const double spent = std::chrono::duration<double, std::nano>(clock::now() - begin).count();
        if (spent < 50e3 && round == 0) {
            calls *= 2;
            continue;
        }
        best = std::min(best, spent / static_cast<double>(calls));
        ++round;
    }
    std::printf("%s %zu %.3f\n", operation, count, best);
}

// The operations, each compiled by itself with the container by reference, as a member or a parameter is.
#define OPERATION [[gnu::noinline]] void

template <class V>
OPERATION push_lvalue(V& v, const element* from, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) v.push_back(from[i]);
}
template <class V>
OPERATION push_rvalue(V& v, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) v.push_back(made(i));
}
template <class V>
OPERATION push_emplace(V& v, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) v.emplace_back();
}
template <class V>
OPERATION push_inserter(V& v, const element* from, std::size_t n) {
    std::copy(from, from + n, std::back_inserter(v));
}
template <class V>
OPERATION pop_all(V& v) {
    while (!v.empty()) v.pop_back();
}
template <class V>
OPERATION stack(V& v, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        v.emplace_back();
        v.emplace_back();
        v.pop_back();
    }
    while (!v.empty()) v.pop_back();
}
template <class V>
OPERATION assign_value(V& v, std::size_t n, const element& x) {
    v.assign(n, x);
}
template <class V>
OPERATION assign_range(V& v, const element* from, std::size_t n) {
    v.assign(from, from + n);
}
template <class V>
OPERATION assign_copy(V& v, const V& from) {
    v = from;
}
template <class V>
OPERATION assign_move(V& v, V& from) {
    v = std::move(from);
}
template <class V>
OPERATION resize(V& v, std::size_t n) {
    v.resize(n);
}
template <class V>
OPERATION resize_value(V& v, std::size_t n, const element& x) {
    v.resize(n, x);
}
template <class V>
OPERATION insert_one(V& v, std::size_t at) {
    v.insert(v.begin() + static_cast<std::ptrdiff_t>(at), element());
}
template <class V>
OPERATION insert_many(V& v, std::size_t at, std::size_t n, const element& x) {
    v.insert(v.begin() + static_cast<std::ptrdiff_t>(at), n, x);
}
template <class V>
OPERATION insert_range(V& v, std::size_t at, const element* from, std::size_t n) {
    v.insert(v.begin() + static_cast<std::ptrdiff_t>(at), from, from + n);
}
template <class V>
OPERATION erase_one(V& v, std::size_t at) {
    v.erase(v.begin() + static_cast<std::ptrdiff_t>(at));
}
template <class V>
OPERATION erase_back(V& v, std::size_t from) {
    v.erase(v.begin() + static_cast<std::ptrdiff_t>(from), v.end());
}
template <class V>
OPERATION erase_half(V& v) {
    v.erase(std::remove_if(v.begin(), v.end(), [](const element& each) { return (seen(each) & 1) != 0; }), v.end());
}
template <class V>
OPERATION swap_two(V& a, V& b) {
    a.swap(b);
}
template <class V>
[[gnu::noinline]] bool compare(const V& a, const V& b) {
    return a == b;
}
template <class V>
[[gnu::noinline]] int iterate(const V& v) {
    int sum = 0;
    for (const element& each : v) sum += seen(each);
    return sum;
}

template <class V>
void time_all(std::size_t n) {
    const std::unique_ptr<element[]> source(new element[n]);
    for (std::size_t i = 0; i < n; ++i) source[i] = made(i);
    const element* const from = source.get();
    // Other distances between what is copied and where to: some let each load wait for a store to the same place of another page.
    const std::unique_ptr<char[]> between(new char[PLACE * 52]);
    keep(*between.get());
    const std::size_t middle = n / 2;
    V v, other, filled;
    for (std::size_t i = 0; i < n; ++i) filled.push_back(made(i));
    const auto time_here = [&](const char* name, auto run) { time(name, n, run); };

    // Construction, each with its destruction.
    time_here("construct(n)", [&] {
        V one(n);
        keep(one);
    });
    time_here("construct(move)", [&] {
        V one(std::move(filled));
        keep(one);
        filled = std::move(one);
    });
    if constexpr (copyable) {
        const element x = made(1);
        time_here("construct(n,x)", [&] {
            V one(n, x);
            keep(one);
        });
        time_here("construct(range)", [&] {
            V one(from, from + n);
            keep(one);
        });
        time_here("construct(copy)", [&] {
            V one(filled);
            keep(one);
        });
        if (n == 4)
            time_here("construct(list)", [&] {
                V one{from[0], from[1], from[2], from[3]};
                keep(one);
            });
    }

    // Assignment to a container that has room.
    v.reserve(n);
    time_here("assign(move)", [&] {
        V one(std::move(filled));
        assign_move(filled, one);
    });
    if constexpr (copyable) {
        const element x = made(1);
        time_here("assign(n,x)", [&] { assign_value(v, n, x); });
        time_here("assign(range)", [&] { assign_range(v, from, n); });
        time_here("assign(copy)", [&] { assign_copy(v, filled); });
        if (n == 4)
            time_here("assign(list)", [&] {
                v = {from[0], from[1], from[2], from[3]};
                keep(v);
            });
    }

    // Resizing from nothing.
    time_here("resize(n)", [&] {
        V one;
        resize(one, n);
        keep(one);
    });
    if constexpr (copyable) {
        const element x = made(1);
        time_here("resize(n,x)", [&] {
            V one;
            resize_value(one, n, x);
            keep(one);
        });
    }

    // Appending to a new container, and again to one that was cleared.
    if constexpr (copyable) {
        time_here("push(const&)", [&] {
            V one;
            push_lvalue(one, from, n);
            keep(one);
        });
        time_here("push(inserter)", [&] {
            V one;
            push_inserter(one, from, n);
            keep(one);
        });
        time_here("refill(const&)", [&] {
            v.clear();
            push_lvalue(v, from, n);
        });
        time_here("refill(inserter)", [&] {
            v.clear();
            push_inserter(v, from, n);
        });
    }
    time_here("push(&&)", [&] {
        V one;
        push_rvalue(one, n);
        keep(one);
    });
    time_here("push(emplace)", [&] {
        V one;
        push_emplace(one, n);
        keep(one);
    });
    time_here("push(reserved)", [&] {
        V one;
        one.reserve(n);
        push_emplace(one, n);
        keep(one);
    });
    time_here("refill(&&)", [&] {
        v.clear();
        push_rvalue(v, n);
    });
    time_here("refill(emplace)", [&] {
        v.clear();
        push_emplace(v, n);
    });
    time_here("push,pop", [&] {
        push_emplace(other, n);
        pop_all(other);
    });
    time_here("stack", [&] { stack(other, n); });

    // Insertion and removal; what was inserted goes again at the end, so that sizes stay.
    time_here("insert(end,one)", [&] {
        insert_one(filled, n);
        filled.pop_back();
    });
    time_here("insert(middle,one)", [&] {
        insert_one(filled, middle);
        erase_back(filled, n);
    });
    if constexpr (copyable) {
        const element x = made(1);
        const std::size_t few = std::min<std::size_t>(n, 8);
        time_here("insert(end,n,x)", [&] {
            V one;
            insert_many(one, 0, n, x);
            keep(one);
        });
        time_here("insert(end,range)", [&] {
            V one;
            insert_range(one, 0, from, n);
            keep(one);
        });
        time_here("insert(middle,n,x)", [&] {
            insert_many(filled, middle, few, x);
            erase_back(filled, n);
        });
        time_here("insert(middle,range)", [&] {
            insert_range(filled, middle, from, few);
            erase_back(filled, n);
        });
        time_here("erase(predicate)", [&] {
            assign_range(v, from, n);
            erase_half(v);
        });
    }
    time_here("erase(front)", [&] {
        erase_one(filled, 0);
        filled.emplace_back();
    });
    time_here("erase(middle)", [&] {
        erase_one(filled, middle);
        filled.emplace_back();
    });

    // The whole.
    other.clear();
    for (std::size_t i = 0; i < n; ++i) other.push_back(made(i));
    time_here("swap", [&] { swap_two(filled, other); });
    volatile int result = 0;
    time_here("compare", [&] { result = compare(other, other) ? 1 : 0; });
    time_here("iterate", [&] { result = iterate(other); });
}

}    // namespace

int main() {
    // Blocks lie elsewhere, too: one that crosses a page takes 10 ns longer to fill.
    const std::unique_ptr<char[]> shift(new char[PLACE * 52]);
    keep(*shift.get());
    for (const std::size_t n : {1U, 4U, 16U, 1'000U, 100'000U}) time_all<container<element>>(n);
}
