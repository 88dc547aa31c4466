// SPDX-License-Identifier: MIT
// Vectors and Python's lists, for modules made with pybind11: include it where you would include <pybind11/stl.h> for std::vector. An
// argument of type headroom::vector or headroom::settled_vector takes any sequence but str and bytes, and a result becomes a list: element
// by element, as with std::vector. (To hand elements over without copying them: arrow.hpp, dlpack.hpp.)
//
// For pybind11 2.9 or later; nothing else of Headroom includes it.
#pragma once

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include <pybind11/stl.h>

namespace pybind11::detail {

template <class T, class Allocator, class Policy>
struct type_caster<headroom::vector<T, Allocator, Policy>> : list_caster<headroom::vector<T, Allocator, Policy>, T> {};
template <class T, class Policy>
struct type_caster<headroom::settled_vector<T, Policy>> : list_caster<headroom::settled_vector<T, Policy>, T> {};

}    // namespace pybind11::detail
