// Where the elements of a small_vector live that has more than N of them: on the heap, then in a reservation, as a vector's. A block of
// N or fewer is no block, but the room inside of the object (small_store.hpp): it is never freed, widened or reallocated.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/heap_memory.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

template <class T, std::size_t N, class Policy>
struct small_vector_memory : heap_memory<T, Policy> {
    using base_ = heap_memory<T, Policy>;
    using reference_type = small_vector_memory;
    using base_::base_;

    [[nodiscard]] static constexpr bool is_inside(const T* begin, const T* cap) noexcept {
        return static_cast<std::size_t>(cap - begin) <= N;
    }

    static constexpr void release(T* begin, T* cap) noexcept {
        // (In constant evaluation nothing is inside: see small_store_::inside_().)
        if (HEADROOM_CONSTANT_EVALUATED() || !is_inside(begin, cap)) base_::release(begin, cap);
    }
    [[nodiscard]] static constexpr bool reaches_(T* begin, T* cap, std::size_t required) noexcept {
        return !is_inside(begin, cap) && base_::reaches_(begin, cap, required);
    }
    [[nodiscard]] static constexpr T* widen_(T* begin, T* cap, std::size_t required, bool exactly) noexcept {
        return is_inside(begin, cap) ? nullptr : base_::widen_(begin, cap, required, exactly);
    }
    [[nodiscard]] static block<T*> grown(T* begin, T* end, T* cap, std::size_t required, bool exactly) {
        if (!is_inside(begin, cap)) return base_::grown(begin, end, cap, required, exactly);
        const auto size = static_cast<std::size_t>(end - begin);
        const std::size_t wanted = exactly ? required : base_::next_capacity(size, required);
        const block<T*> to = base_::allocate_surely(required, wanted, exactly);
        detail::copy_bytes(to.begin, begin, size);
        return to;
    }
    [[nodiscard]] static block<T*> grown_by_one(T* begin, T* end) {
        if (!is_inside(begin, end)) return base_::grown_by_one(begin, end);
        return grown(begin, end, end, static_cast<std::size_t>(end - begin) + 1, false);
    }
};

}}}    // namespace headroom::detail
