// Implements detail/range/changing.hpp.
#include <headroom/detail/range/changing.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "range/account.hpp"
#include "range/range.hpp"
#include "range/registry.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Restores the protection of the first `bytes`. mprotect can fail after changing some of several mappings.
void restore_protection(range* control, std::size_t bytes) noexcept {
    const std::size_t protected_bytes =
        control->protection.allowed == access::read_write ? 0 : std::min(control->protection.protected_bytes, bytes);
    if (protected_bytes != 0) (void)protect(control->part(0, protected_bytes), control->protection.allowed);
    if (protected_bytes != bytes) (void)protect(control->part(protected_bytes, bytes), access::read_write);
}

}    // namespace

std::error_code protect(range* control, access allowed) noexcept {
    const std::lock_guard pause(control->mutex);
    // Only the bytes given to the owner: later commits must be accessible, and the helper may have made more accessible ahead.
    const std::size_t bytes = control->prefault.given_to_owner != 0 ? control->prefault.given_to_owner : committed_of(control);
    if (bytes > 0) {
        std::error_code error = protect(control->part(0, bytes), allowed);
        if (error) {
            release_unused();    // frees mappings, or memory that a limit counts
            error = protect(control->part(0, bytes), allowed);
        }
        if (error) {
            restore_protection(control, bytes);
            return error;
        }
    }
    control->protection.allowed = allowed;
    control->protection.protected_bytes = bytes;
    control->cache.fits_thread_slot = false;
    return {};
}

access current_access(const range* control) noexcept { return control->protection.allowed; }

void set_name(range* control, const char* text) noexcept {
    identity_writer(control).set_label(text);
    control->cache.fits_thread_slot = false;
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
    const std::lock_guard pause(control->mutex);
    control->prefault.target.store(0);
    control->set_memory(std::max(control->memory(), control->extent.accessible));    // premapped: all of it
    control->extent.charged = 0;
    (void)release_memory_after(control, kept);
    update_account(control);
    report_to_heap_profiler(control, committed_of(control));
    if (control->prefault.given_to_owner != 0) control->prefault.given_to_owner = committed_of(control);
    return committed_of(control);
}

void withdraw_huge_advice(range* control) noexcept {
    const std::lock_guard pause(control->mutex);
    if (!advise_huge(control->part(0, control->creation.usable), false)) control->protection.huge_advised = false;
}

}}}    // namespace headroom::detail
