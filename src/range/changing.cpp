// SPDX-License-Identifier: MIT
// Implements detail/range/changing.hpp.
#include <headroom/detail/range/changing.hpp>

#include <algorithm>
#include <cstring>

#include "range/account.hpp"
#include "range/range.hpp"
#include "range/registry.hpp"

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

access current_access(const range* control) noexcept { return control->protection.allowed(); }

void set_name(range* control, const char* text) noexcept {
    identity_writer(control).set_label(text);
    control->cache.set_fits_thread_slot(false);
    (void)name(control->part(0, control->size()), is_named(control) ? text : nullptr);
}

void copy_name(const range* from, range* to) noexcept {
    if (!is_named(from)) return;
    char text[max_name_length + 1];
    copy_label(from, text);
    set_name(to, text);
}

std::size_t shrink(range* control, std::size_t kept) noexcept {
    kept = std::min(whole_pages(kept), control->size());
    const range_lock held(control);
    control->prefault.stop();
    control->extent.assume_memory(control->extent.accessible());    // premapped: all of it
    control->extent.set_charged(0);
    (void)release_memory_after(held, kept);
    update_account(held);
    const std::size_t committed = control->extent.committed();
    report_to_heap_profiler(control, committed);
    control->prefault.update_given(committed);
    return committed;
}

void withdraw_huge_advice(range* control) noexcept {
    const range_lock held(control);
    if (!advise_huge(control->part(0, control->creation.usable), false)) set_huge_until(held, 0);
}

}}}    // namespace headroom::detail
