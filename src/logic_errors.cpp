// SPDX-License-Identifier: MIT
// Throws the logic errors of containers: length_error and out_of_range.
#include <headroom/detail/errors.hpp>

#include <stdexcept>

#include "throwing.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

void throw_length_error(const char* what) { throw_exception<std::length_error>(what); }
void throw_out_of_range(const char* what) { throw_exception<std::out_of_range>(what); }

}}}    // namespace headroom::detail
