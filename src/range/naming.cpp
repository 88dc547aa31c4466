// SPDX-License-Identifier: MIT
// Implements detail/range/naming.hpp.
#include <headroom/detail/range/naming.hpp>

#include "range/range.hpp"
#include "range/registry.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

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

}}}    // namespace headroom::detail
