// Declares the standard templates that relocatable.hpp and the containers have something to say about, without the headers
// that define them: those take three times as long to compile as <vector>, and whoever has such an object has included its
// header. Only libstdc++ is known well enough for that (its declarations have not changed since GCC 5; its own headers meet
// these and would tell); with other standard libraries the headers themselves are included.
#pragma once

#include <utility>    // pair
#include <vector>

#if defined(__GLIBCXX__)

namespace std _GLIBCXX_VISIBILITY(default) {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
template <typename, typename>
class unique_ptr;
template <typename>
class shared_ptr;
template <typename>
class weak_ptr;
template <typename, size_t>
struct array;
template <typename...>
class tuple;
template <typename>
class optional;
template <typename...>
class variant;
template <typename, typename>
struct uses_allocator;
_GLIBCXX_END_NAMESPACE_VERSION
}

#else

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#endif
