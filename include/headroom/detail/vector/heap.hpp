// The heap that a vector with std::allocator is on: malloc's, so that realloc may be used where elements travel as bytes; operator
// new's where they ask for more alignment than malloc gives. What is taken from one must be given back to the same, so nothing but the
// alignment decides: of a type compilers may know more or less, and objects of several may hand vectors to each other.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/memory/large_block.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

[[nodiscard]] constexpr bool is_on_malloc(std::size_t alignment) noexcept { return alignment <= alignof(std::max_align_t); }

// Null where memory is refused. (With a constant alignment, as most are, one call remains.)
[[nodiscard]] HEADROOM_ALWAYS_INLINE void* take_from_heap(std::size_t alignment, std::size_t bytes) noexcept {
    return detail::is_on_malloc(alignment) ? std::malloc(bytes)
                                           : ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
}
HEADROOM_ALWAYS_INLINE void give_to_heap(std::size_t alignment, void* memory) noexcept {
    if (detail::is_on_malloc(alignment)) {
        std::free(memory);
    } else {
        ::operator delete(memory, std::align_val_t{alignment});
    }
}

// The functions of operator new's heap, for the library to call: a program whose vectors are all on malloc's heap links none of them.
template <std::size_t Alignment>
struct heap_of_operator_new {
    static void* take(std::size_t bytes) noexcept { return detail::take_from_heap(Alignment, bytes); }
    static void give(void* block) noexcept { detail::give_to_heap(Alignment, block); }
    static constexpr other_heap calls{take, give};
};

}}}    // namespace headroom::detail
