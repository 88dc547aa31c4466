// What the files for Linux and for other POSIX systems share.
#pragma once

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "system/calls.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

[[nodiscard]] inline std::error_code system_error(int error) noexcept { return {error, std::system_category()}; }

// What came of a system call that returns 0 on success and sets errno otherwise; errno is `before` again. (Apart from make_call(),
// of which there are many.)
[[nodiscard]] std::error_code call_result(int result, int refused_by_test, int before) noexcept;

// Makes one such call, unless a test has it refused.
template <class Call>
[[nodiscard]] std::error_code make_call(page_call kind, Call call) noexcept {
    const int before = errno;
    const int refused = intercept(kind);
    return call_result(refused == 0 ? call() : 0, refused, before);
}

// Whatever a test pretends.
[[nodiscard]] std::size_t real_page_size() noexcept;

}}}    // namespace headroom::detail
