// What an owner may do to a range besides filling it: protect it, name it, move its contents to another.
#include <algorithm>
#include <cstring>

#include "range/prefaulter.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "range/cache.hpp"
#include "range/statistics.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

std::error_code protect(range* control, access allowed) noexcept {
    const without_helper pause(control);
    // What the owner was given, and no more: what is committed later must be accessible, and the helper may have rights far
    // ahead of the owner.
    const std::size_t bytes = control->handed != 0 ? control->handed : committed_of(control);
    if (bytes > 0)
        if (const std::error_code error = protect(control->part(0, bytes), allowed)) return error;
    control->allowed = allowed;
    control->quick = false;
    return {};
}

access current_access(const range* control) noexcept { return control->allowed; }

void name(range* control, const char* text) noexcept {
    rewriting(control).label(text);
    control->named = text != nullptr;
    control->quick = false;
    (void)name(control->part(0, control->size()), text);
}

void copy_name(const range* from, range* to) noexcept {
    if (!from->named) return;
    char text[longest_name + 1];
    copy_label(from, text);
    name(to, text);
}

void transfer(range* from, range* to, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    const without_helper pause_from(from);
    const without_helper pause_to(to);
    const std::size_t whole = round_up(bytes, page_size());
    if (!remap(from->part(0, whole), to->part(0, whole))) {
        count_remapped(whole);
        // The pages went along: those of `to` are the ones that `from` had, and there it is empty.
        const std::size_t behind = std::max(from->memory(), committed_of(from));
        to->set_memory(std::max(to->memory(), whole));
        from->set_memory(behind > whole ? behind : 0);
        if (behind <= whole) from->provided = 0;
        return;
    }
    std::memcpy(to->start(), from->start(), bytes);
    count_copied(bytes);
}

}}}    // namespace headroom::detail
