// SPDX-License-Identifier: MIT
// Throws exceptions out of line: a throw expression inlined into each append would make the common path larger, and the headers of the
// exceptions take longer to compile than <vector>. In a program without exceptions a throw ends it.
#pragma once

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

HEADROOM_API [[noreturn]] HEADROOM_COLD void throw_length_error(const char* what);
HEADROOM_API [[noreturn]] HEADROOM_COLD void throw_out_of_range(const char* what);
HEADROOM_API [[noreturn]] HEADROOM_COLD void throw_bad_alloc();

}}}    // namespace headroom::detail
