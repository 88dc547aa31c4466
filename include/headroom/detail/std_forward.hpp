// SPDX-License-Identifier: MIT
// Declares the standard templates that relocatable.hpp and the containers specialise something for, without their headers, which take
// three times as long to compile as <vector>: a file with such an object includes its header anyway. Only for libstdc++, whose
// declarations have not changed since GCC 5, and whose own headers would contradict wrong ones; others include the headers.
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
class error_code;
_GLIBCXX_END_NAMESPACE_VERSION
}

#else

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <variant>

#endif

namespace headroom { inline namespace v0_1 { namespace detail {

// Names std::error_code in a template of T, which compiles without its definition until it is instantiated.
template <class>
struct late {
    using error_code = std::error_code;
};

}}}    // namespace headroom::detail
