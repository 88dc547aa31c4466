// What the files for Linux and for other POSIX systems share.
#pragma once

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "system/calls.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

[[nodiscard]] inline std::error_code system_error(int error) noexcept { return {error, std::system_category()}; }

// Makes one system call that returns 0 on success and sets errno otherwise, unless a test has it refused.
template <class Call>
[[nodiscard]] std::error_code attempt(page_call kind, Call call) noexcept {
    if (const int refused = intercept(kind)) return system_error(refused);
    if (call() == 0) return {};
    note_refusal();
    return system_error(errno);
}

// Whatever a test pretends.
[[nodiscard]] std::size_t real_page_size() noexcept;

}}}    // namespace headroom::detail
