// SPDX-License-Identifier: MIT
// Functions that use nine members of vectors of twelve types. Compiled with std::vector and with Headroom's, to compare their text.
#include <cstddef>
#include <string>

#if defined(WITH_HEADROOM)
#include <headroom/vector.hpp>
template <class T>
using vector = headroom::vector<T>;
#else
#include <vector>
template <class T>
using vector = std::vector<T>;
#endif

template <int N>
struct element {
#if defined(WITH_STRINGS)
    std::string name;
#endif
    int number;
    double values[N];
    short codes[N * 3 % 7 + 1];
};
template <class T>
T make(int number);

template <class T>
struct user {
    static void push(vector<T>& v, const T& x) { v.push_back(x); }
    static void emplace(vector<T>& v, int number) { v.emplace_back(make<T>(number)); }
    static void insert(vector<T>& v, std::ptrdiff_t at, const T& x) { v.insert(v.begin() + at, x); }
    static void erase(vector<T>& v, std::ptrdiff_t at) { v.erase(v.begin() + at); }
    static void resize(vector<T>& v, std::size_t count) { v.resize(count); }
    static vector<T> copy(const vector<T>& v) { return v; }
    static void assign(vector<T>& v, const vector<T>& from) { v = from; }
    static void assign(vector<T>& v, std::size_t count, const T& x) { v.assign(count, x); }
    static void reserve(vector<T>& v, std::size_t count) { v.reserve(count); }
};
template struct user<element<1>>;
template struct user<element<2>>;
template struct user<element<3>>;
template struct user<element<4>>;
template struct user<element<5>>;
template struct user<element<6>>;
template struct user<element<7>>;
template struct user<element<8>>;
template struct user<element<9>>;
template struct user<element<10>>;
template struct user<element<11>>;
template struct user<element<12>>;
