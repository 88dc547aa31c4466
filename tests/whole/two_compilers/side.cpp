// SPDX-License-Identifier: MIT
// Operations of `SIDE` on vectors, compiled once by each compiler.
#include "sides.hpp"

template <class Vector>
static void grown(Vector& v, std::size_t count) {
    while (v.size() < count) v.emplace_back(static_cast<int>(v.size()));
    v.reserve(count + 10);
    v.insert(v.begin(), typename Vector::value_type(-1));
    v.erase(v.begin());
    v.shrink_to_fit();
}
template <class Vector>
static void ended(Vector& v) {
    const Vector taken(std::move(v));
}

#define EACH_BODY(kind)                                                                         \
    void SIDE::grow(headroom::vector<kind>& v, std::size_t count) { grown(v, count); }          \
    void SIDE::end(headroom::vector<kind>& v) { ended(v); }                                     \
    void SIDE::grow(headroom::small_vector<kind, 2>& v, std::size_t count) { grown(v, count); } \
    void SIDE::end(headroom::small_vector<kind, 2>& v) { ended(v); }
EACH_KIND(EACH_BODY)
