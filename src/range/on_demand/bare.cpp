// Ranges for those who show something else than memory there.
#include "range/range_calls.hpp"
#include "range/registry.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

range* acquire_bare(std::size_t bytes, reserving* how, std::error_code& error) noexcept {
    bytes = whole_pages(bytes);
    range* control = make_range(bytes, page_by_page(), error, how);
    if (control == nullptr) {
        give_back_unused();
        control = make_range(bytes, page_by_page(), error, how);
    }
    return control;
}

void relinquish_bare(range* control) noexcept {
    if (control->named) rewriting(control).label(nullptr);    // (what lay there is gone, with what the system called it)
    control->named = false;
    control->change_back = nullptr;
    destroy(control);
}

}}}    // namespace headroom::detail
