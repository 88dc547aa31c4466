// Declarations shared by the files for Linux and other POSIX systems.
#pragma once

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "system/calls.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

[[nodiscard]] inline std::error_code system_error(int error) noexcept { return {error, std::system_category()}; }

// Returns the error of a call that returns 0 or sets errno; restores errno to `before`. Not in make_call(), which is instantiated often.
[[nodiscard]] std::error_code call_result(int result, int refused_by_test, int before) noexcept;

// Makes a system call that returns 0 or sets errno, unless a test refuses it. Returns its error.
template <class Call>
[[nodiscard]] std::error_code make_call(page_call kind, Call call) noexcept {
    const int before = errno;
    const int refused = intercept(kind);
    return call_result(refused == 0 ? call() : 0, refused, before);
}

// Returns the page size without overrides of tests.
[[nodiscard]] std::size_t real_page_size() noexcept;

}}}    // namespace headroom::detail
