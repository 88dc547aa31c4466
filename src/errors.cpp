#include <headroom/detail/errors.hpp>

#include <new>
#include <stdexcept>

namespace headroom { inline namespace v0_1 { namespace detail {

void throw_length_error(const char* what) { throw std::length_error(what); }
void throw_bad_alloc() { throw std::bad_alloc(); }

}}}    // namespace headroom::detail
