// The heap that a vector with std::allocator is on: malloc's where its elements may travel as bytes and ask for no more than
// its alignment, so that realloc may be used; else operator new's. What is taken from one must be given back to the same.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Null where memory is refused. (With constant arguments, as most are, one call remains.)
[[nodiscard]] HEADROOM_ALWAYS_INLINE void* take_from_heap(bool malloced, std::size_t alignment, std::size_t bytes) noexcept {
    if (malloced) return std::malloc(bytes);
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
    return ::operator new(bytes, std::nothrow);
}

// The same from operator new, which throws where memory is refused.
[[nodiscard]] HEADROOM_ALWAYS_INLINE void* take_from_operator_new(std::size_t alignment, std::size_t bytes) {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(bytes, std::align_val_t{alignment});
    return ::operator new(bytes);
}

HEADROOM_ALWAYS_INLINE void give_to_heap(bool malloced, std::size_t alignment, void* memory) noexcept {
    if (malloced) {
        std::free(memory);
    } else if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
        ::operator delete(memory, std::align_val_t{alignment});
    } else {
        ::operator delete(memory);
    }
}

}}}    // namespace headroom::detail
