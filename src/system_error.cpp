// SPDX-License-Identifier: MIT
#include <system_error>

#include <headroom/reservation.hpp>

#include "throwing.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

void throw_system_error(std::error_code code, const char* what) { throw_exception<std::system_error>(code, what); }

}}}    // namespace headroom::detail
