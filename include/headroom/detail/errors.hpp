// Throwing, out of line: a throw expression inlined into each append would push the common path apart.
#pragma once

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>

#include <headroom/detail/attributes.hpp>

namespace headroom::inline v0_1::detail {

#if defined(__cpp_exceptions)
[[noreturn]] HEADROOM_COLD inline void throw_length_error(const char* what) { throw std::length_error(what); }
[[noreturn]] HEADROOM_COLD inline void throw_out_of_range(const char* what) { throw std::out_of_range(what); }
[[noreturn]] HEADROOM_COLD inline void throw_bad_alloc() { throw std::bad_alloc(); }
[[noreturn]] HEADROOM_COLD inline void throw_system_error(std::error_code code, const char* what) {
    throw std::system_error(code, what);
}
#else
[[noreturn]] HEADROOM_COLD inline void throw_length_error(const char*) { std::abort(); }
[[noreturn]] HEADROOM_COLD inline void throw_out_of_range(const char*) { std::abort(); }
[[noreturn]] HEADROOM_COLD inline void throw_bad_alloc() { std::abort(); }
[[noreturn]] HEADROOM_COLD inline void throw_system_error(std::error_code, const char*) { std::abort(); }
#endif

}  // namespace headroom::inline v0_1::detail
