// SPDX-License-Identifier: MIT
// Memory of a vector with std::allocator: heap blocks, and mapped ones from Policy::map_threshold on. Constant evaluation: std::allocator.
//
// The capacity tells the kind of block: fewer than mapped_threshold() elements are a heap block, others a mapped one (block_layout.hpp).
//
// All functions are static and take the pointers by value: see "register cursor" in appending.hpp. A null block means that memory was
// refused. If a call is refused or throws, nothing has changed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <vector>    // allocator

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/range/admitting.hpp>
#include <headroom/detail/vector/bulk_elements.hpp>
#include <headroom/detail/vector/element_blocks.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/growing_block.hpp>
#include <headroom/detail/vector/mapped_block.hpp>
#include <headroom/detail/vector/mapped_block_calls.hpp>
#include <headroom/growth.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// The heap for elements of this alignment: malloc, so that relocatable elements can use realloc; operator new for alignments that malloc
// does not give. Only the alignment decides, because memory must go back to the heap that it came from, and compilers may know different
// things about one type in two object files.
template <std::size_t Alignment>
struct heap_of {
    static constexpr bool is_malloc = Alignment <= alignof(std::max_align_t);

    // Null if memory is refused.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE static void* allocate_bytes(std::size_t bytes) noexcept {
        return is_malloc ? std::malloc(bytes) : ::operator new(bytes, std::align_val_t{Alignment}, std::nothrow);
    }
    HEADROOM_ALWAYS_INLINE static void free_bytes(void* memory) noexcept {
        is_malloc ? std::free(memory) : ::operator delete(memory, std::align_val_t{Alignment});
    }
    // For the compiled library. A program whose vectors all use malloc links no operator new.
    static constexpr heap_functions functions{allocate_bytes, free_bytes};
};

// `Inline`: elements in a buffer of the container's own, which the functions for many elements do not free.
template <class T, class Policy, std::size_t Inline = 0>
struct heap_memory : default_construction_<T> {
    using value_type = T;
    using pointer = T*;
    using const_pointer = const T*;
    using allocator_type = std::allocator<T>;
    using reference_type = heap_memory;    // passed by value: it has no members

    // True if a growing block may be passed to realloc.
    static constexpr bool can_realloc() noexcept { return is_trivially_relocatable_v<T>; }
    static constexpr bool annotates_() noexcept { return Policy::commit.how_held() == holding::guarded; }

    constexpr heap_memory() noexcept = default;
    constexpr explicit heap_memory(const std::allocator<T>&) noexcept {}
    [[nodiscard]] static constexpr std::allocator<T> allocator() noexcept { return {}; }
    [[nodiscard]] static constexpr std::size_t max_size() noexcept { return detail::max_array_size(sizeof(T)); }

    // Allocates a block: on the heap for `wanted` elements, or a mapped one with memory for `required` and addresses for `wanted`, as
    // allocate_mapped() does. If refused, returns null with `Quiet`, else throws std::bad_alloc.
    template <bool Quiet>
    [[nodiscard]] static constexpr block<T*> allocate(std::size_t required, std::size_t wanted, bool exactly) noexcept(Quiet) {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            T* const begin = std::allocator<T>{}.allocate(wanted);
            return {begin, begin + wanted};
        }
        block<T*> made;
        if (wanted >= mapped_threshold()) {
            made = typed_block(detail::allocate_mapped(layout_of<>::value, required, wanted, exactly));
        } else if (void* const begin = allocate_on_heap(wanted * sizeof(T))) {
            made = {static_cast<T*>(begin), static_cast<T*>(begin) + wanted};
        }
        if constexpr (!Quiet) {
            if (made.begin == nullptr) detail::throw_bad_alloc();
        }
        return made;
    }

    // Frees the block [begin, cap). Null is allowed.
    static constexpr void release(T* begin, T* cap) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            if (begin != nullptr) std::allocator<T>{}.deallocate(begin, static_cast<std::size_t>(cap - begin));
            return;
        }
        if (begin == nullptr) return;
        if (is_mapped(begin, cap)) {
            detail::release_mapped(layout_of<>::value, begin);
        } else {
            heap_of<alignof(T)>::free_bytes(begin);
        }
    }

    // Charges the memory of `required` elements in place. False if they do not fit there, or if refused.
    [[nodiscard]] static bool try_charge_(T* begin, T* cap, std::size_t required) noexcept {
        return detail::charge_block(layout_of<>::value, begin, cap, required);
    }
    // Expands the block to `required` elements without relocation. Returns its new end, or null.
    [[nodiscard]] static constexpr T* try_expand_in_place_(T* begin, T* cap, std::size_t required, bool exactly) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return nullptr;
        return static_cast<T*>(detail::try_expand_block(layout_of<>::value, begin, cap, required, exactly));
    }

    // Returns a block for `required` relocatable elements, geometric unless `exactly`; releases the old one. Throws std::bad_alloc.
    [[nodiscard]] static block<T*> reallocate(T* begin, T* end, T* cap, std::size_t required, bool exactly) {
        static_assert(is_trivially_relocatable_v<T>);
        if constexpr (is_doubling) {
            return typed_block(detail::reallocate(layout_of<>::value, begin, end, cap, required, exactly));
        } else {
            const std::size_t wanted = exactly ? required : next_capacity(static_cast<std::size_t>(end - begin), required);
            return typed_block(detail::reallocate_block(layout_of<>::value, begin, end, cap, required, wanted, exactly));
        }
    }
    // Like reallocate() for a full block and one more element. Past max_size() throws std::bad_alloc if doubling, else std::length_error.
    HEADROOM_COLD static block<T*> reallocate_by_one(T* begin, T* end) {
        static_assert(is_trivially_relocatable_v<T>);
        if constexpr (is_doubling) {
            return typed_block(detail::reallocate_by_one(layout_of<>::value, begin, end));
        } else {
            const auto size = static_cast<std::size_t>(end - begin);
            if (size >= max_size()) detail::throw_length_error("headroom::vector: past max_size()");
            return reallocate(begin, end, end, size + 1, false);
        }
    }

    // --- Slow paths, compiled once: see element_blocks.hpp. They throw std::length_error past max_size() too.

    [[nodiscard]] static constexpr block<T*> allocate_slow(std::size_t size, std::size_t required, bool exactly) {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            return allocate<false>(required, exactly ? required : next_capacity(size, required), exactly);
        }
        return typed_block(detail::allocate_block(layout_of<>::value, size, required, exactly));
    }
    [[nodiscard]] static constexpr block<T*> expand_or_allocate(T* begin, T* end, T* cap, std::size_t required, bool exactly) {
        if (HEADROOM_CONSTANT_EVALUATED()) return allocate_slow(static_cast<std::size_t>(end - begin), required, exactly);
        return typed_block(detail::expand_or_allocate(layout_of<>::value, begin, end, cap, required, exactly));
    }
    static constexpr void release_slow(T* begin, T* cap) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return release(begin, cap);
        detail::release_any_block(layout_of<>::value, begin, cap);
    }
    // Return a block for `count` elements behind those of [begin, end), built `step` at a time; set that to `count` if all memory is
    // there.
    [[nodiscard]] static constexpr block<T*> allocate_for_steps(std::size_t count, std::size_t& step) {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            step = count;
            return allocate_slow(0, count, true);
        }
        const block_in_steps made = detail::allocate_for_steps(layout_of<>::value, count, step);
        step = made.step;
        return typed_block(made.to);
    }
    [[nodiscard]] static constexpr block<T*> expand_for_steps(T* begin, T* end, T* cap, std::size_t count, std::size_t& step) {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            const auto size = static_cast<std::size_t>(end - begin);
            step = count;
            return allocate_slow(size, size + count, false);
        }
        const block_in_steps made = detail::expand_for_steps(layout_of<>::value, begin, end, cap, count, step);
        step = made.step;
        return typed_block(made.to);
    }
    // Returns how many of the `left` elements to build next, and sets `cap`.
    [[nodiscard]] static constexpr std::size_t next_step(T* begin, T* end, T*& cap, std::size_t left, std::size_t step) {
        if (HEADROOM_CONSTANT_EVALUATED()) return left;
        const element_step next = detail::next_step(layout_of<>::value, begin, end, cap, left, step);
        cap = static_cast<T*>(next.cap);
        return next.count;
    }

    // True if a block for `count` elements is a call of malloc and nothing else: the caller makes it inline. False for none.
    [[nodiscard]] static constexpr bool is_short(std::size_t count) noexcept {
        constexpr std::size_t most = std::size_t{1} << 10;
        return !HEADROOM_FOR_SIZE && is_on_malloc() && Policy::map_threshold > most && count - 1 < most / sizeof(T) &&
               !HEADROOM_CONSTANT_EVALUATED();
    }
    // Allocates a short block. Throws std::bad_alloc.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE static block<T*> allocate_short(std::size_t count) {
        auto* const begin = static_cast<T*>(std::malloc(count * sizeof(T)));
        if (HEADROOM_UNLIKELY(begin == nullptr)) detail::throw_bad_alloc();
        return {begin, begin + count};
    }
    // True if the first block that grows to `count` elements has exactly that capacity.
    [[nodiscard]] static constexpr bool grows_exactly(std::size_t count) noexcept {
        return is_doubling && (count > 1 || !can_fill_heap_block());
    }
    // Returns a block for one element more than the full block [begin, cap) holds: that block if it could be expanded and `may_expand`.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE static constexpr block<T*> block_for_one_more(T* begin, T* cap, bool may_expand) {
        const auto size = static_cast<std::size_t>(cap - begin);
        if constexpr (is_doubling && is_on_malloc()) {
            if (is_short(2 * size + 1)) return allocate_short(next_capacity(size, size + 1));
        }
        return may_expand ? expand_or_allocate(begin, cap, cap, size + 1, false) : allocate_slow(size, size + 1, false);
    }

    // --- Many elements, written as bytes: see bulk_elements.hpp. They return the block that holds the elements then.

    // True if elements may be copied as bytes by the library.
    static constexpr bool has_bulk() noexcept { return bytewise_movable<T> && is_trivially_relocatable_v<T>; }
    template <bool Repeats>
    [[nodiscard]] static block<T*> construct_many(const T* from, std::size_t count) {
        const block_layout& layout = layout_of<>::value;
        return typed_block(Repeats ? detail::construct_filled(layout, from, count)
                                   : detail::construct_copies(layout, from, count));
    }
    template <bool Repeats>
    [[nodiscard]] static block<T*> append_many(T* begin, T* end, T* cap, const T* from, std::size_t count) {
        const block_layout& layout = layout_of<>::value;
        return typed_block(Repeats ? detail::append_filled(layout, begin, end, cap, from, count)
                                   : detail::append_copies(layout, begin, end, cap, from, count));
    }
    template <bool Repeats>
    [[nodiscard]] static block<T*> assign_many(T* begin, T* cap, const T* from, std::size_t count) {
        const block_layout& layout = layout_of<>::value;
        return typed_block(Repeats ? detail::assign_filled(layout, begin, cap, from, count)
                                   : detail::assign_copies(layout, begin, cap, from, count));
    }
    template <bool Repeats>
    [[nodiscard]] static block<T*> insert_many(T* begin, T* at, T* end, T* cap, const T* from, std::size_t count) {
        const block_layout& layout = layout_of<>::value;
        return typed_block(Repeats ? detail::insert_filled(layout, begin, at, end, cap, from, count)
                                   : detail::insert_copies(layout, begin, at, end, cap, from, count));
    }

    // Returns the capacity to grow to from a full block of `size` elements: geometric, at least `required`.
    [[nodiscard]] static constexpr std::size_t next_capacity(std::size_t size, std::size_t required) noexcept {
        if constexpr (is_doubling) {
            // A block that grows by several elements at once seldom grows again, so it gets std::vector's capacity.
            if (can_fill_heap_block() && required == size + 1 && !HEADROOM_CONSTANT_EVALUATED()) {
                return detail::next_doubled_capacity(layout_of<>::value, size);
            }
            const std::size_t twice = size > max_size() / 2 ? max_size() : 2 * size;
            return twice < required ? required : twice;
        } else {
            const std::size_t wanted = detail::apply_growth<typename Policy::growth>(size, required, sizeof(T));
            if (can_fill_heap_block() && size == 0 && !HEADROOM_CONSTANT_EVALUATED())
                return detail::capacity_of_heap_block(layout_of<>::value, wanted);
            return wanted;
        }
    }

    // Decommits the whole pages of a reservation after `size` elements. Returns begin + size, the new end: the rest of the last page is
    // capacity again when the vector grows. Does nothing to a heap block.
    [[nodiscard]] static constexpr T* trim_block(T* begin, T* cap, std::size_t size) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED() || !is_mapped(begin, cap) || size < mapped_threshold()) return cap;
        detail::trim_mapped(layout_of<>::value, begin, size);
        return begin + size;
    }

    // Trims the block to a capacity of `count` elements, or of the smallest mapped block. Returns the new end.
    [[nodiscard]] static constexpr T* trim_to_capacity(T* begin, T* cap, std::size_t count) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return cap;
        return static_cast<T*>(detail::trim_to_capacity(layout_of<>::value, begin, cap, count));
    }

    // True if a block of `capacity` elements should be replaced by a smaller one for `size`.
    [[nodiscard]] static constexpr bool has_waste(T* begin, std::size_t size, std::size_t capacity) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED() || size < mapped_threshold()) return size != capacity;
        return size != capacity && detail::is_on_heap(layout_of<>::value, begin);
    }

private:
    static constexpr bool is_doubling = std::is_same_v<typename Policy::growth, geometric<2, 1>>;

    // Smallest capacity of a mapped block, in elements.
    [[nodiscard]] static constexpr std::size_t mapped_threshold() noexcept {
        return Policy::map_threshold / sizeof(T) + (Policy::map_threshold % sizeof(T) != 0 ? 1 : 0);
    }
    [[nodiscard]] static constexpr std::size_t min_mapped_bytes() noexcept {
        return mapped_threshold() > static_cast<std::size_t>(-1) / sizeof(T) ? static_cast<std::size_t>(-1)
                                                                             : mapped_threshold() * sizeof(T);
    }
    [[nodiscard]] static constexpr bool is_mapped(const T* begin, const T* cap) noexcept {
        // A null block has no capacity.
        return (mapped_threshold() != 0 || begin != nullptr) && static_cast<std::size_t>(cap - begin) >= mapped_threshold();
    }
    [[nodiscard]] static block<T*> typed_block(const block<void*>& from) noexcept {
        return {static_cast<T*>(from.begin), static_cast<T*>(from.cap)};
    }

    // Allocates a heap block; null if refused. Blocks that replace ranges because of a high map_threshold must pass try_admit().
    [[nodiscard]] HEADROOM_ALWAYS_INLINE static void* allocate_on_heap(std::size_t bytes) noexcept {
        constexpr std::size_t usual = std::size_t{1} << 20;
        if constexpr (Policy::map_threshold > usual) {
            if (bytes >= usual && !detail::try_admit(bytes)) return nullptr;
        }
        return heap_of<alignof(T)>::allocate_bytes(bytes);
    }
    [[nodiscard]] static constexpr bool is_on_malloc() noexcept { return heap_of<alignof(T)>::is_malloc; }
    [[nodiscard]] static constexpr const heap_functions* heap() noexcept {
        return is_on_malloc() ? nullptr : &heap_of<alignof(T)>::functions;
    }
    // True if the capacity may include the unused rest of malloc's block: see growing_block.hpp.
    [[nodiscard]] static constexpr bool can_fill_heap_block() noexcept { return is_on_malloc() && sizeof(T) < 16; }

    // True if all blocks up to max_short_block bytes, and those they grow into, come from malloc.
    [[nodiscard]] static constexpr bool short_uses_malloc() noexcept {
        return is_on_malloc() && sizeof(T) <= max_short_block && (Policy::map_threshold > 4 * max_short_block);
    }

    // In a template, because cl instantiates a class's own constants with the class, and T may be incomplete there.
    template <class = void>
    struct layout_of {
        static constexpr block_layout value{sizeof(T),
                                            alignof(T),
                                            mapped_threshold(),
                                            heap(),
                                            short_uses_malloc(),
                                            Policy::commit,
                                            min_mapped_bytes(),
                                            Inline * sizeof(T),
                                            is_doubling ? nullptr : &heap_memory::next_capacity};
    };
};

}}}    // namespace headroom::detail
