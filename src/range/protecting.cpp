// SPDX-License-Identifier: MIT
// Implements detail/range/protecting.hpp.
#include <headroom/detail/range/protecting.hpp>

#include <algorithm>

#include <headroom/reservation.hpp>

#include "range/account.hpp"
#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Restores the protection of the first `bytes`. mprotect can fail after changing some of several mappings.
void restore_protection(locked_range control, std::size_t bytes) noexcept {
    const range_protection& before = control->protection;
    const std::size_t protected_bytes = before.allowed() == access::read_write ? 0 : std::min(before.protected_bytes(), bytes);
    if (protected_bytes != 0) (void)protect(control->part(0, protected_bytes), before.allowed());
    if (protected_bytes != bytes) (void)protect(control->part(protected_bytes, bytes), access::read_write);
}

}    // namespace

std::error_code protect(range* control, access allowed) noexcept {
    const range_lock held(control);
    // Only the bytes given to the owner: later commits must be accessible, and the helper may have made more accessible ahead.
    const std::size_t given = control->prefault.given_to_owner();
    const std::size_t bytes = given != 0 ? given : control->extent.committed();
    if (bytes > 0) {
        std::error_code error = protect(control->part(0, bytes), allowed);
        if (error) {
            release_unused();    // frees mappings, or memory that a limit counts
            error = protect(control->part(0, bytes), allowed);
        }
        if (error) {
            restore_protection(held, bytes);
            return error;
        }
    }
    control->protection.set(allowed, bytes);
    control->cache.set_fits_thread_slot(false);
    return {};
}

void protect_or_throw(range* control, access allowed) {
    if (const std::error_code error = detail::protect(control, allowed)) detail::throw_system_error(error, "headroom: protect()");
}

bool try_protect(range* control, access allowed) noexcept { return !detail::protect(control, allowed); }

access current_access(const range* control) noexcept { return control->protection.allowed(); }

}}}    // namespace headroom::detail
