// Ranges that are held open: readable and writable throughout, with a guard at either end.
#include <algorithm>

#include "range/quarantine.hpp"
#include "range/range_calls.hpp"
#include "system/platform.hpp"
#include "system/waiting.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// A mapping that is readable and writable but for a guard at either end. Not where whatever is mapped is locked into memory:
// there it would all be resident at once.
page_range reserve_open(std::size_t reserved, std::error_code& error) noexcept {
    if (mappings_are_locked()) {
        error = std::make_error_code(std::errc::not_enough_memory);
        return {};
    }
    const page_range mapping = reserve(span_of(reserved), granule, error, access::read_write);
    if (error) return {};
    std::byte* const base = mapping.data + granule;
    error = guard({base - open_guard, open_guard});
    if (!error) error = guard({base + reserved, open_guard});
    if (!error) return mapping;
    release_surely(mapping);
    return {};
}

// Prepares an open range for the cache. How far it was touched only its user knows; the rest is emptied, which costs next to
// nothing where nothing was touched. (It stays readable, and that is not always wanted.)
bool close_open_range(range* control, std::size_t used) noexcept {
    control->set_memory(std::min(control->size(), whole_pages(used)));
    control->stale = control->memory();
    if (hardened() || readable_means_in_use()) return false;
    return control->memory() == control->size() || !discard(control->part(control->memory(), control->size()));
}

}    // namespace

bool map_open(range* control, std::size_t reserved) noexcept {
    std::error_code error;
    const page_range mapping = reserve_open(reserved, error);
    if (error) return false;
    control->mapping = mapping;
    control->close_open = close_open_range;
    return true;
}

}}}    // namespace headroom::detail
