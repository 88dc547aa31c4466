// Throws the library's exceptions, or passes them to the handler of on_failure() in builds without.
#pragma once

#include <headroom/detail/attributes.hpp>
#include <headroom/on_failure.hpp>

#include "component_api.hpp"

#if !defined(__cpp_exceptions)
#include <atomic>
#include <stdexcept>
#include <system_error>
#endif

namespace headroom { inline namespace v0_1 {

class refused;
class file_error;

namespace detail {

#if defined(__cpp_exceptions)

// Throws Exception(arguments...).
template <class Exception, class... Arguments>
[[noreturn]] HEADROOM_ALWAYS_INLINE void throw_exception(const Arguments&... arguments) {
    throw Exception(arguments...);
}

#else

// Unlocks the resources whose calls are being left; null while none was locked. Defined apart from resources, which few programs link.
extern constinit std::atomic<void (*)() noexcept> unlock_before_handler;

// Unlocks this thread's resources and calls the handler of on_failure(). If there is none, prints `what`. Aborts if that returns.
HEADROOM_FOR_COMPONENTS [[noreturn]] HEADROOM_COLD void call_failure_handler(failure_kind kind, const std::exception& what);

template <class Exception>
inline constexpr failure_kind kind_of = failure_kind::bad_alloc;
template <>
inline constexpr failure_kind kind_of<std::length_error> = failure_kind::length_error;
template <>
inline constexpr failure_kind kind_of<std::out_of_range> = failure_kind::out_of_range;
template <>
inline constexpr failure_kind kind_of<std::invalid_argument> = failure_kind::invalid_argument;
template <>
inline constexpr failure_kind kind_of<std::system_error> = failure_kind::system_error;
template <>
inline constexpr failure_kind kind_of<refused> = failure_kind::refused;
template <>
inline constexpr failure_kind kind_of<file_error> = failure_kind::file_error;

// Passes Exception(arguments...) to the handler of on_failure().
template <class Exception, class... Arguments>
[[noreturn]] void throw_exception(const Arguments&... arguments) {
    call_failure_handler(kind_of<Exception>, Exception(arguments...));
}

#endif

}    // namespace detail

}}    // namespace headroom
