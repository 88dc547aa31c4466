// SPDX-License-Identifier: MIT
// The exception `refused`, whose message is made without allocating. Implements detail/refused.hpp.
#include <headroom/detail/refused.hpp>

#include <cstdio>

#include <headroom/detail/attempt.hpp>
#include <headroom/reservation.hpp>

#include "range/range.hpp"
#include "system/platform.hpp"
#include "throwing.hpp"

namespace headroom { inline namespace v0_1 {

refused::refused(const char* what, std::size_t bytes, std::error_code code) noexcept : code_(code) {
    // The system reports "Cannot allocate memory" also when a process has used up its mappings, with memory to spare.
    char mappings[96] = "";
    if (code == detail::out_of_memory()) {
        constexpr std::size_t few = 16;    // needed by one call
        const detail::mapping_count count = detail::count_mappings();
        if (count.most != 0 && count.used + few >= count.most)
            std::snprintf(mappings, sizeof mappings, "; the process has %zu of the %zu mappings that vm.max_map_count allows",
                          count.used, count.most);
        else if (detail::exceeds_mappings())
            std::snprintf(mappings, sizeof mappings, "; reservations have the %zu mappings that set_mapping_limit() allows",
                          mapping_limit());
    }
    // message() allocates, and memory may be short; then the number must do.
    detail::catch_all(
        [&] {
            std::snprintf(text_.data(), text_.size(), "headroom: cannot %s (%zu bytes): %s%s", what, bytes,
                          code.message().c_str(), mappings);
        },
        [&] {
            std::snprintf(text_.data(), text_.size(), "headroom: cannot %s (%zu bytes): error %d%s", what, bytes, code.value(),
                          mappings);
        });
}

namespace detail {

void throw_refused(const char* what, std::size_t bytes, std::error_code code) { throw_exception<refused>(what, bytes, code); }
void throw_refused(const char* what, std::size_t bytes, const failure& why) {
    detail::throw_refused(what, bytes, detail::to_error_code(why));
}

}    // namespace detail

}}    // namespace headroom
