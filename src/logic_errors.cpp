// What a program asks for that there cannot be.
#include <headroom/detail/errors.hpp>

#include <stdexcept>

namespace headroom { inline namespace v0_1 { namespace detail {

void throw_length_error(const char* what) { throw std::length_error(what); }
void throw_out_of_range(const char* what) { throw std::out_of_range(what); }

}}}    // namespace headroom::detail
