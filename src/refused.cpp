#include <cstdio>

#include <headroom/reservation.hpp>

namespace headroom { inline namespace v0_1 {

refused::refused(const char* what, std::size_t bytes, std::error_code code) noexcept : code_(code) {
    // message() allocates, and memory may be what is short; then the number has to do.
    try {
        std::snprintf(text_.data(), text_.size(), "headroom: cannot %s (%zu bytes): %s", what, bytes, code.message().c_str());
    } catch (...) {
        std::snprintf(text_.data(), text_.size(), "headroom: cannot %s (%zu bytes): error %d", what, bytes, code.value());
    }
}

namespace detail {

void throw_refused(const char* what, std::size_t bytes, std::error_code code) { throw refused(what, bytes, code); }
void throw_system_error(std::error_code code, const char* what) { throw std::system_error(code, what); }

}    // namespace detail

}}    // namespace headroom
