// What the files for Linux share, besides what all POSIX systems do.
#pragma once

#include <headroom/pages.hpp>

#include "system/posix.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Whether the system refuses what it does not know. The first answer may change errno.
[[nodiscard]] bool unknown_advice_fails(page_range range) noexcept;

// Whether the system promises no more memory than it has (overcommit mode 2).
[[nodiscard]] bool overcommit_is_off() noexcept;

}}}    // namespace headroom::detail
