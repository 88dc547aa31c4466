// SPDX-License-Identifier: MIT
// Implements detail/range/admitting.hpp.
#include <headroom/detail/range/admitting.hpp>

#include "range/range.hpp"
#include "system/admission.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

bool try_admit(std::size_t bytes) noexcept {
    heed_options();
    return !admit(bytes, bytes, false);
}

}}}    // namespace headroom::detail
