// SPDX-License-Identifier: MIT
// Implements headroom/process_policy.hpp. Apart from the ranges' own calls, so that only programs that use it link it.
#include "range/process_policy.hpp"

#include <headroom/reservation.hpp>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 {

bool set_process_policy(const process_policy& policy) noexcept {
    detail::heed_options();
    detail::allow(policy);
    if (policy.cache_limit) set_cache_limit(*policy.cache_limit);
    return !policy.min_available_memory || set_min_available_memory(*policy.min_available_memory);
}

}}    // namespace headroom
