// SPDX-License-Identifier: MIT
// Vectors and Python's lists, for modules made with nanobind: include it where you would include <nanobind/stl/vector.h> for std::vector.
// An argument of type headroom::vector or headroom::settled_vector takes any sequence but str and bytes, and a result becomes a list:
// element by element, as with std::vector. (To hand elements over without copying them: arrow.hpp, dlpack.hpp.)
//
// For nanobind 1.0 or later; nothing else of Headroom includes it.
#pragma once

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/detail/nb_list.h>

namespace nanobind::detail {

template <class T, class Allocator, class Policy>
struct type_caster<headroom::vector<T, Allocator, Policy>> : list_caster<headroom::vector<T, Allocator, Policy>, T> {};
template <class T, class Policy>
struct type_caster<headroom::settled_vector<T, Policy>> : list_caster<headroom::settled_vector<T, Policy>, T> {};

}    // namespace nanobind::detail
