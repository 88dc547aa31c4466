// The heap that a vector with std::allocator is on: malloc's, so that realloc may be used where elements travel as bytes; operator
// new's where they ask for more alignment than malloc gives. What is taken from one must be given back to the same, so nothing but the
// alignment decides: of a type compilers may know more or less, and objects of several may hand vectors to each other.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

[[nodiscard]] constexpr bool is_on_malloc(std::size_t alignment) noexcept { return alignment <= alignof(std::max_align_t); }

// Null where memory is refused. (With a constant alignment, as most are, one call remains.)
[[nodiscard]] HEADROOM_ALWAYS_INLINE void* take_from_heap(std::size_t alignment, std::size_t bytes) noexcept {
    return is_on_malloc(alignment) ? std::malloc(bytes) : ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
}
HEADROOM_ALWAYS_INLINE void give_to_heap(std::size_t alignment, void* memory) noexcept {
    if (is_on_malloc(alignment)) {
        std::free(memory);
    } else {
        ::operator delete(memory, std::align_val_t{alignment});
    }
}

}}}    // namespace headroom::detail
