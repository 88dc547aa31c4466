// Where the elements of a vector with std::allocator live: on the heap while they are few, in a reservation from
// Policy::map_threshold bytes on, and in constant evaluation wherever std::allocator puts them.
//
// A vector keeps three pointers and nothing else, so what kind of memory it has must show from them: a capacity of fewer than
// `large_from` elements is a plain heap block; a larger one has a header of one cache line before its first element, which
// names the reservation, or none where the system refused one and a heap block serves instead.
//
// All functions are static and take the three pointers by value: see "register cursor" in sequence.hpp. None throws; a null
// block means that memory was refused, and that nothing has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>    // allocator, construct_at

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/elements.hpp>
#include <headroom/detail/held_range.hpp>
#include <headroom/growth.hpp>
#include <headroom/relocatable.hpp>

namespace headroom::inline v0_1::detail {

// Memory for elements: [begin, cap).
template <class Pointer>
struct block {
    Pointer begin{};
    Pointer cap{};
};

// What lies before the first element of a large block.
struct block_header {
    range* control;          // null: a heap block
    std::size_t reserved;    // bytes from the start of the header's line
};

// How much address space a vector that needs `bytes` takes: always one of few sizes, so that one given back serves the next
// vector warm, and each so large that it is seldom outgrown: with 4 GiB, 2^47 bytes of addresses hold about as many vectors
// as Linux allows mappings for. Less where addresses are 32 bits.
[[nodiscard]] constexpr std::size_t reservation_for(std::size_t bytes) noexcept {
    std::size_t size = sizeof(std::size_t) >= 8 ? std::size_t{1} << 31 << 1 : std::size_t{64} << 20;
    while (size < bytes) {
        if (size > static_cast<std::size_t>(PTRDIFF_MAX) / 16) return bytes;
        size *= 16;
    }
    return size;
}

template <class T, class Policy>
struct heap_memory {
    using value_type = T;
    using pointer = T*;
    using const_pointer = const T*;
    using allocator_type = std::allocator<T>;
    using reference_type = heap_memory;    // how the slow paths take it: by value, there is nothing in it

    static consteval bool plain() noexcept { return true; }
    // Whether a growing block may be handed to realloc.
    static consteval bool reallocates() noexcept { return is_trivially_relocatable_v<T>; }
    static consteval bool annotates() noexcept { return Policy::commit.how_held() == holding::guarded; }

    constexpr heap_memory() noexcept = default;
    constexpr explicit heap_memory(const std::allocator<T>&) noexcept {}
    [[nodiscard]] static constexpr std::allocator<T> allocator() noexcept { return {}; }
    [[nodiscard]] static constexpr std::size_t most() noexcept { return most_elements(sizeof(T)); }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE static constexpr void construct(T* place, Args&&... args) {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            std::construct_at(place, static_cast<Args&&>(args)...);
        } else {
            ::new (static_cast<void*>(place)) T(static_cast<Args&&>(args)...);
        }
    }
    HEADROOM_ALWAYS_INLINE static constexpr void destroy_one(T* place) noexcept { std::destroy_at(place); }

    // --- Blocks

    // Room for `required` elements at least, and for `wanted` where that is a matter of taste. `exactly`: no more is
    // committed than is required.
    [[nodiscard]] static constexpr block<T*> allocate(std::size_t required, std::size_t wanted, bool exactly) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            T* const begin = std::allocator<T>{}.allocate(wanted);
            return {begin, begin + wanted};
        }
        if (wanted < large_from()) {
            T* const begin = static_cast<T*>(take(wanted * sizeof(T)));
            return {begin, begin == nullptr ? nullptr : begin + wanted};
        }
        return allocate_large(required, wanted, exactly);
    }

    static constexpr void release(T* begin, T* cap) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            if (begin != nullptr) std::allocator<T>{}.deallocate(begin, static_cast<std::size_t>(cap - begin));
            return;
        }
        if (begin == nullptr) return;
        if (static_cast<std::size_t>(cap - begin) < large_from()) {
            give(begin);
        } else {
            release_large(begin);
        }
    }

    // Whether the address space for `required` elements is there.
    [[nodiscard]] static constexpr bool reaches(const T* begin, const T* cap, std::size_t required) noexcept {
        if (begin == nullptr || static_cast<std::size_t>(cap - begin) < large_from()) return false;
        const block_header* const header = header_of(begin);
        return header->control != nullptr && bytes_for(required) <= header->reserved;
    }
    // Room for `required` elements without moving those that are there: the new end of the block, or null.
    [[nodiscard]] static constexpr T* widen(T* begin, T* cap, std::size_t required, bool exactly) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return nullptr;
        if (begin == nullptr || static_cast<std::size_t>(cap - begin) < large_from()) return nullptr;
        return widen_large(begin, required, exactly);
    }

    // Room for `required` elements, moving those that are there as bytes. Only for relocatable types.
    [[nodiscard]] static block<T*> regrow(T* begin, T* end, T* cap, std::size_t required, std::size_t wanted,
                                          bool exactly) noexcept {
        static_assert(is_trivially_relocatable_v<T>);
        const auto old = static_cast<std::size_t>(cap - begin);
        if (old < large_from() && wanted < large_from() && from_malloc()) {
            // glibc serves small blocks from a cache of the thread, but its realloc puts into it and never takes from it.
            if (wanted <= small_bytes / sizeof(T)) {
                T* const to = static_cast<T*>(take(wanted * sizeof(T)));
                if (to == nullptr) return {};
                copy_bytes(to, begin, static_cast<std::size_t>(end - begin));
                give(begin);
                return {to, to + wanted};
            }
            T* const moved = static_cast<T*>(std::realloc(static_cast<void*>(begin), wanted * sizeof(T)));
            return {moved, moved == nullptr ? nullptr : moved + wanted};
        }
        return regrow_elsewhere(begin, end, cap, required, wanted, exactly);
    }

    // The block of a reservation with no more committed than `size` elements need; other blocks as they are.
    [[nodiscard]] static constexpr T* trim(T* begin, T* cap, std::size_t size) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return cap;
        if (static_cast<std::size_t>(cap - begin) < large_from() || size < large_from()) return cap;
        range* const control = header_of(begin)->control;
        return control == nullptr ? cap : begin + fitting(shrink(control, line() + size * sizeof(T)));
    }

    // Whether `size` elements of a block of `capacity` had better be in another block.
    [[nodiscard]] static constexpr bool wastes(const T* begin, std::size_t size, std::size_t capacity) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED() || size < large_from()) return size != capacity;
        return size != capacity && header_of(begin)->control == nullptr;
    }

private:
    // The largest block that glibc keeps in the cache of a thread, but for a header and rounding.
    static constexpr std::size_t small_bytes = 1024;

    // From how many elements on a block has a header.
    [[nodiscard]] static constexpr std::size_t large_from() noexcept {
        return Policy::map_threshold / sizeof(T) + (Policy::map_threshold % sizeof(T) != 0 ? 1 : 0);
    }
    // Bytes before the first element of a large block: a cache line, and more where the alignment asks for it.
    [[nodiscard]] static constexpr std::size_t line() noexcept { return alignof(T) > 64 ? alignof(T) : 64; }
    [[nodiscard]] static constexpr std::size_t bytes_for(std::size_t elements) noexcept { return line() + elements * sizeof(T); }
    [[nodiscard]] static constexpr std::size_t fitting(std::size_t committed) noexcept {
        const std::size_t count = (committed - line()) / sizeof(T);
        return count < most() ? count : most();
    }

    [[nodiscard]] static std::byte* start_of(const T* begin) noexcept {
        return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(begin)) - line();
    }
    [[nodiscard]] static block_header* header_of(const T* begin) noexcept {
        return reinterpret_cast<block_header*>(start_of(begin));
    }
    static T* begin_of(void* start, range* control, std::size_t reserved) noexcept {
        ::new (start) block_header{control, reserved};
        return reinterpret_cast<T*>(static_cast<std::byte*>(start) + line());
    }

    // realloc moves bytes and aligns for no more than max_align_t; where that does not do, the heap is operator new's.
    [[nodiscard]] static constexpr bool from_malloc() noexcept {
        return is_trivially_relocatable_v<T> && alignof(T) <= alignof(std::max_align_t);
    }
    [[nodiscard]] static void* take(std::size_t bytes) noexcept {
        if constexpr (from_malloc()) {
            return std::malloc(bytes);
        } else if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            return ::operator new(bytes, std::align_val_t{alignof(T)}, std::nothrow);
        } else {
            return ::operator new(bytes, std::nothrow);
        }
    }
    static void give(void* memory) noexcept {
        if constexpr (from_malloc()) {
            std::free(memory);
        } else if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            ::operator delete(memory, std::align_val_t{alignof(T)});
        } else {
            ::operator delete(memory);
        }
    }

    [[nodiscard]] static std::size_t committed_for(range* control, std::size_t bytes, bool exactly,
                                                   failure& why) noexcept {
        return exactly ? extend_exactly(control, bytes, why) : extend(control, bytes, why);
    }

    // A reservation with `required` elements committed and room for `wanted` at least.
    [[nodiscard]] static block<T*> map(std::size_t required, std::size_t wanted, bool exactly) noexcept {
        // A reservation starts at a page, and pages may be as small as 4096 bytes.
        if constexpr (alignof(T) > 4096) return {};
        const std::size_t usable = required < large_from() ? large_from() : required;
        const std::size_t least = bytes_for(wanted < usable ? usable : wanted);
        failure why;
        const held_range held = acquire(reservation_for(least), false, least, Policy::commit, why);
        if (why) return {};
        std::size_t committed = held.committed;
        // Memory is provided for what is required; the rest of the smallest large block is only made accessible.
        if (committed < bytes_for(required)) committed = committed_for(held.control, bytes_for(required), exactly, why);
        if (!why && committed < bytes_for(usable)) committed = extend_exactly(held.control, bytes_for(usable), why);
        if (why) {
            relinquish(held.control);
            return {};
        }
        T* const begin = begin_of(held.base, held.control, held.reserved);
        return {begin, begin + fitting(committed)};
    }

    // A heap block that is as large as one that would be in a reservation.
    [[nodiscard]] static block<T*> substitute(std::size_t count) noexcept {
        if (count < large_from()) count = large_from();
        if (count > (static_cast<std::size_t>(PTRDIFF_MAX) - line()) / sizeof(T)) return {};
        void* const start = take(bytes_for(count));
        if (start == nullptr) return {};
        T* const begin = begin_of(start, nullptr, 0);
        return {begin, begin + count};
    }

    [[nodiscard]] HEADROOM_COLD static block<T*> allocate_large(std::size_t required, std::size_t wanted,
                                                                bool exactly) noexcept {
        if (const block<T*> mapped = map(required, wanted, exactly); mapped.begin != nullptr) return mapped;
        const block<T*> made = substitute(wanted);
        return made.begin != nullptr || required == wanted ? made : substitute(required);
    }

    HEADROOM_COLD static void release_large(T* begin) noexcept {
        const block_header* const header = header_of(begin);
        if (header->control != nullptr) {
            relinquish(header->control);
        } else {
            give(start_of(begin));
        }
    }

    [[nodiscard]] HEADROOM_COLD static T* widen_large(T* begin, std::size_t required, bool exactly) noexcept {
        const block_header* const header = header_of(begin);
        if (header->control == nullptr || bytes_for(required) > header->reserved) return nullptr;
        failure why;
        const std::size_t committed = committed_for(header->control, bytes_for(required), exactly, why);
        return why ? nullptr : begin + fitting(committed);
    }

    [[nodiscard]] HEADROOM_COLD static block<T*> regrow_elsewhere(T* begin, T* end, T* cap, std::size_t required,
                                                                  std::size_t wanted, bool exactly) noexcept {
        if (T* const wider = widen(begin, cap, required, exactly)) return {begin, wider};
        const bool large = begin != nullptr && static_cast<std::size_t>(cap - begin) >= large_from();
        range* const control = large ? header_of(begin)->control : nullptr;
        block<T*> to;
        if (wanted >= large_from()) {
            to = map(required, wanted, exactly);
            if (to.begin != nullptr && control != nullptr) {
                // Both are reservations: the pages travel, and the header with them.
                const block_header header = *header_of(to.begin);
                transfer(control, header.control, bytes_for(static_cast<std::size_t>(end - begin)));
                *header_of(to.begin) = header;
                relinquish(control);
                return to;
            }
            if (to.begin == nullptr && large && control == nullptr && from_malloc()) {
                if (wanted > (static_cast<std::size_t>(PTRDIFF_MAX) - line()) / sizeof(T)) return {};
                void* const start = std::realloc(static_cast<void*>(start_of(begin)), bytes_for(wanted));
                if (start == nullptr) return {};
                T* const moved = begin_of(start, nullptr, 0);
                return {moved, moved + wanted};
            }
        }
        if (to.begin == nullptr) to = allocate(required, wanted, exactly);
        if (to.begin == nullptr) return {};
        uninitialized_relocate(begin, end, to.begin);
        release(begin, cap);
        return to;
    }
};

}  // namespace headroom::inline v0_1::detail
