// Ranges that are held open: readable and writable throughout, with a guard at either end.
#include "range/range_calls.hpp"
#include "system/platform.hpp"
#include "system/waiting.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// A mapping that is readable and writable but for a guard at either end. Not where whatever is mapped is locked into memory:
// there it would all be resident at once.
page_range reserve_open(std::size_t reserved, std::error_code& error) noexcept {
    if (mappings_are_locked()) {
        error = out_of_memory();
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

}    // namespace

bool map_open(range* control, std::size_t reserved) noexcept {
    std::error_code error;
    const page_range mapping = reserve_open(reserved, error);
    if (error) return false;
    control->terms.mapping = mapping;
    return true;
}

}}}    // namespace headroom::detail
