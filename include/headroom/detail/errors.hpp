// Throwing, out of line: a throw expression inlined into each append would push the common path apart, and the headers of
// the exceptions take longer to compile than <vector>. In a file built without exceptions nothing catches what is thrown,
// and the program ends.
#pragma once

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

HEADROOM_API [[noreturn]] HEADROOM_COLD void throw_length_error(const char* what);
HEADROOM_API [[noreturn]] HEADROOM_COLD void throw_out_of_range(const char* what);
HEADROOM_API [[noreturn]] HEADROOM_COLD void throw_bad_alloc();

}}}    // namespace headroom::detail
