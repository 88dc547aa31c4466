// Throws the logic errors of containers: length_error and out_of_range.
#include <headroom/detail/errors.hpp>

#include <stdexcept>

namespace headroom { inline namespace v0_1 { namespace detail {

void throw_length_error(const char* what) { throw std::length_error(what); }
void throw_out_of_range(const char* what) { throw std::out_of_range(what); }

}}}    // namespace headroom::detail
