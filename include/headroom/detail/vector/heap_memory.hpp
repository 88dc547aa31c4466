// Where the elements of a vector with std::allocator live: on the heap while they are few, in a reservation from
// Policy::map_threshold bytes on, and in constant evaluation wherever std::allocator puts them.
//
// A vector keeps three pointers and nothing else, so what kind of memory it has must show from them: a capacity of fewer than
// `large_from` elements is a plain heap block; a larger one is what large_block.hpp says.
//
// All functions are static and take the three pointers by value: see "register cursor" in sequence.hpp. None throws; a null
// block means that memory was refused, and that nothing has changed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <vector>    // allocator

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/heap.hpp>
#include <headroom/detail/memory/growing_block.hpp>
#include <headroom/detail/memory/large_block.hpp>
#include <headroom/growth.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Memory for elements: [begin, cap).
template <class Pointer>
struct block {
    Pointer begin{};
    Pointer cap{};
};

template <class T, class Policy>
struct heap_memory : built_by_themselves_<T> {
    using value_type = T;
    using pointer = T*;
    using const_pointer = const T*;
    using allocator_type = std::allocator<T>;
    using reference_type = heap_memory;    // how the slow paths take it: by value, there is nothing in it

    // Whether a growing block may be handed to realloc.
    static constexpr bool reallocates() noexcept { return is_trivially_relocatable_v<T>; }
    static constexpr bool annotates_() noexcept { return Policy::commit.how_held() == holding::guarded; }

    constexpr heap_memory() noexcept = default;
    constexpr explicit heap_memory(const std::allocator<T>&) noexcept {}
    [[nodiscard]] static constexpr std::allocator<T> allocator() noexcept { return {}; }
    [[nodiscard]] static constexpr std::size_t most() noexcept { return detail::most_elements(sizeof(T)); }

    // --- Blocks

    // Allocates at least `required` elements; `wanted` is the preferred capacity. `exactly`: no more is committed than is required.
    [[nodiscard]] static constexpr block<T*> allocate(std::size_t required, std::size_t wanted, bool exactly) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            T* const begin = std::allocator<T>{}.allocate(wanted);
            return {begin, begin + wanted};
        }
        if (wanted >= large_from()) return elements(detail::allocate_large(layout, required, wanted, exactly));
        T* const begin = static_cast<T*>(detail::take_from_heap(alignof(T), wanted * sizeof(T)));
        return {begin, begin == nullptr ? nullptr : begin + wanted};
    }

    // The same, but throws where memory is refused.
    [[nodiscard]] static constexpr block<T*> allocate_surely(std::size_t required, std::size_t wanted, bool exactly) {
        const block<T*> made = allocate(required, wanted, exactly);
        if (made.begin == nullptr) detail::throw_bad_alloc();
        return made;
    }

    static constexpr void release(T* begin, T* cap) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            if (begin != nullptr) std::allocator<T>{}.deallocate(begin, static_cast<std::size_t>(cap - begin));
            return;
        }
        if (begin == nullptr) return;
        if (is_large(begin, cap)) {
            detail::release_large(layout, begin);
        } else {
            detail::give_to_heap(alignof(T), begin);
        }
    }

    // Whether the address space for `required` elements is there.
    [[nodiscard]] static constexpr bool reaches_(T* begin, T* cap, std::size_t required) noexcept {
        return is_large(begin, cap) && detail::reaches_large(layout, begin, required);
    }
    // Room for `required` elements without moving those that are there: the new end of the block, or null.
    [[nodiscard]] static constexpr T* widen_(T* begin, T* cap, std::size_t required, bool exactly) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED() || !is_large(begin, cap)) return nullptr;
        const std::size_t wider = detail::widen_large(layout, begin, required, exactly);
        return wider == 0 ? nullptr : begin + wider;
    }

    // Room for `required` elements, and more as appending grows unless `exactly`, moving those that are there as bytes. Only for
    // relocatable types. Throws where memory is refused.
    [[nodiscard]] static block<T*> grown(T* begin, T* end, T* cap, std::size_t required, bool exactly) {
        static_assert(is_trivially_relocatable_v<T>);
        if constexpr (doubles) {
            const byte_block to = detail::grown(layout, begin, end, cap, required, exactly);
            return {static_cast<T*>(to.begin), static_cast<T*>(to.cap)};
        } else {
            const auto size = static_cast<std::size_t>(end - begin);
            const std::size_t wanted = exactly ? required : next_capacity(size, required);
            const block<T*> to = elements(
                detail::regrow_block(layout, begin, size, static_cast<std::size_t>(cap - begin), required, wanted, exactly));
            if (to.begin == nullptr) detail::throw_bad_alloc();
            return to;
        }
    }
    // The same for a full block and one element more. Throws also where there cannot be one.
    [[nodiscard]] static block<T*> grown_by_one(T* begin, T* end) {
        static_assert(is_trivially_relocatable_v<T>);
        if constexpr (doubles) {
            const byte_block to = detail::grown_by_one(layout, begin, end);
            return {static_cast<T*>(to.begin), static_cast<T*>(to.cap)};
        } else {
            const auto size = static_cast<std::size_t>(end - begin);
            if (size >= most()) detail::throw_length_error("headroom::vector: past max_size()");
            return grown(begin, end, end, size + 1, false);
        }
    }

    // For how many elements a block is that replaces one with `size`, to hold `required`.
    [[nodiscard]] static constexpr std::size_t next_capacity(std::size_t size, std::size_t required) noexcept {
        if constexpr (doubles) {
            // What grows by more than one element is as std::vector would have it: it seldom grows again.
            if (may_be_filled() && required == size + 1 && !HEADROOM_CONSTANT_EVALUATED()) {
                return detail::doubled_capacity(layout, size);
            }
            const std::size_t twice = size > most() / 2 ? most() : 2 * size;    // (in few instructions)
            return twice < required ? required : twice;
        } else {
            const std::size_t wanted = detail::grown<typename Policy::growth>(size, required, sizeof(T));
            if (may_be_filled() && size == 0 && !HEADROOM_CONSTANT_EVALUATED()) return detail::filled_capacity(layout, wanted);
            return wanted;
        }
    }

    // The end of a block's room once what `size` elements do not need is given back: of a reservation, whole pages. (What is
    // left of the last page is found again when the vector grows.)
    [[nodiscard]] static constexpr T* trim(T* begin, T* cap, std::size_t size) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED() || !is_large(begin, cap) || size < large_from()) return cap;
        detail::trim_large(layout, begin, size);
        return begin + size;
    }

    // Whether `size` elements of a block of `capacity` had better be in another block.
    [[nodiscard]] static constexpr bool wastes(T* begin, std::size_t size, std::size_t capacity) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED() || size < large_from()) return size != capacity;
        return size != capacity && detail::on_heap(layout, begin);
    }

private:
    static constexpr bool doubles = std::is_same_v<typename Policy::growth, geometric<2, 1>>;

    // From how many elements on a block is a large one.
    [[nodiscard]] static constexpr std::size_t large_from() noexcept {
        return Policy::map_threshold / sizeof(T) + (Policy::map_threshold % sizeof(T) != 0 ? 1 : 0);
    }
    [[nodiscard]] static constexpr bool is_large(const T* begin, const T* cap) noexcept {
        // (No block has no capacity.)
        return (large_from() != 0 || begin != nullptr) && static_cast<std::size_t>(cap - begin) >= large_from();
    }
    [[nodiscard]] static block<T*> elements(large_block from) noexcept {
        T* const begin = static_cast<T*>(from.begin);
        return {begin, begin + from.count};
    }

    // Whether the heap's blocks for powers of two may have room for elements more: see growing_block.hpp.
    [[nodiscard]] static constexpr bool may_be_filled() noexcept { return detail::is_on_malloc(alignof(T)) && sizeof(T) < 16; }

    // Whether all that a block of up to longest_short bytes grows from and to is malloc's.
    [[nodiscard]] static constexpr bool short_by_malloc() noexcept {
        return detail::is_on_malloc(alignof(T)) && sizeof(T) <= longest_short && (Policy::map_threshold > 4 * longest_short);
    }

    [[nodiscard]] static constexpr const other_heap* heap() noexcept {
        if constexpr (detail::is_on_malloc(alignof(T))) {
            return nullptr;
        } else {
            return &heap_of_operator_new<alignof(T)>::calls;
        }
    }

    static constexpr large_layout layout{sizeof(T), alignof(T), large_from(), heap(), short_by_malloc(), Policy::commit};
};

}}}    // namespace headroom::detail
