#include "range/published.hpp"

#include <cstddef>
#include <type_traits>

#include "system/note.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

static_assert(std::is_standard_layout_v<range>, "its fields have places that can be told");
static_assert(std::is_standard_layout_v<published_table> && offsetof(published_table, newest) % 8 == 0);
// The numbers are part of the format.
static_assert(static_cast<int>(range_state::unused) == 0 && static_cast<int>(range_state::live) == 1 &&
              static_cast<int>(range_state::cached) == 2);
static_assert(static_cast<int>(access::none) == 0 && static_cast<int>(access::read_only) == 1 &&
              static_cast<int>(access::read_write) == 2);
static_assert(static_cast<int>(holding::guarded) == 0 && static_cast<int>(holding::open) == 1);
// And a reader takes them as they lie in memory.
static_assert(sizeof(std::atomic<range_state>) == 4 && sizeof(std::atomic<std::size_t>) == sizeof(std::size_t) &&
              sizeof(std::atomic<range*>) == sizeof(void*) && sizeof(std::atomic<std::uint64_t>) == 8);

}    // namespace

#define HEADROOM_PLACE(field) \
    {static_cast<std::uint32_t>(offsetof(range, field)), static_cast<std::uint32_t>(sizeof(static_cast<range*>(nullptr)->field))}

constinit published_table published_ranges = {
    {"headroom-ranges", published_format, published_byte_order, sizeof(void*), sizeof(range), "v0_1", sizeof(published_table),
     published_fields},
    {HEADROOM_PLACE(identity.version), HEADROOM_PLACE(identity.state), HEADROOM_PLACE(identity.base),
     HEADROOM_PLACE(identity.reserved), HEADROOM_PLACE(label), HEADROOM_PLACE(extent.committed), HEADROOM_PLACE(extent.memory),
     HEADROOM_PLACE(cache.hits), HEADROOM_PLACE(rights.allowed), HEADROOM_PLACE(terms.held),
     HEADROOM_PLACE(identity.next_of_all)},
    {nullptr}};

#undef HEADROOM_PLACE

}}}    // namespace headroom::detail

HEADROOM_NOTE("Headroom", "_ZN8headroom4v0_16detail16published_rangesE");
