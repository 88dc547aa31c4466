// Implements detail/range/admitting.hpp.
#include <headroom/detail/range/admitting.hpp>

#include "range/options.hpp"
#include "range/range.hpp"
#include "system/admission.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

bool try_admit(std::size_t bytes) noexcept {
    unmap_all_ranges(read_options_once());
    return !admit(bytes, bytes, false);
}

}}}    // namespace headroom::detail
