// Implements claims.hpp.
#include <headroom/detail/concurrent/claims.hpp>

#include <algorithm>

#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

bool threads_can_be_fenced() noexcept { return other_threads_can_be_fenced(); }

std::size_t claim_list::reclaim(const slots_locked& held) noexcept {
    for (claim* each = first_; each != nullptr; each = each->next_) each->withdraw(held);
    const bool seen = !threads_can_be_fenced() || fence_other_threads();
    std::size_t staying = 0;
    for (claim* each = first_; each != nullptr; each = each->next_) {
        // Without the fence, announcements may be unseen: all claims stay.
        each->set_claimed(held, seen ? std::min(each->claimed_, each->announced_.load()) : each->claimed_);
        staying += each->claimed_;
    }
    return staying;
}

}}}    // namespace headroom::detail
