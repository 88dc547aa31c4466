// SPDX-License-Identifier: MIT
#include <headroom/detail/errors.hpp>

#include <new>

#include "throwing.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

void throw_bad_alloc() { throw_exception<std::bad_alloc>(); }

}}}    // namespace headroom::detail
