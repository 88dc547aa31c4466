#include <headroom/detail/errors.hpp>

#include <new>

namespace headroom { inline namespace v0_1 { namespace detail {

void throw_bad_alloc() { throw std::bad_alloc(); }

}}}    // namespace headroom::detail
