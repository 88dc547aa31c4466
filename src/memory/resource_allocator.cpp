// SPDX-License-Identifier: MIT
// The message of a container without a default resource (resource_allocator.hpp).
#include <headroom/resource_allocator.hpp>

#include <cstdio>
#include <cstdlib>

namespace headroom { inline namespace v0_1 { namespace detail {

void fail_without_default() noexcept {
    std::fputs(
        "headroom: resource_allocator: default-constructed, and its resource type has no default: "
        "call headroom::set_default_resource first\n",
        stderr);
    std::abort();
}

}}}    // namespace headroom::detail
