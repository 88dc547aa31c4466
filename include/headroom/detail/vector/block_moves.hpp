// How elements get from one block to the next: as bytes where they are relocatable, moved where that cannot fail, else copied;
// and what is given back, or destroyed again, when it fails half way.
//
// `Memory` is where blocks come from (heap_memory or allocator_memory). All functions take it by its reference_type, which for
// the heap is by value: see "register cursor" in appending.hpp.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/heap_memory.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// (T is a parameter and no member: a class that the program derives from a vector would find it, in place of its own T.)
template <class Memory, class T = typename Memory::value_type>
class block_moves {
protected:
    using pointer = typename Memory::pointer;
    using memory_reference = typename Memory::reference_type;
    using extent = block<pointer>;

    // Whether elements may leave a block as bytes.
    static constexpr bool leaves_as_bytes() noexcept { return Memory::plain() && is_trivially_relocatable_v<T>; }

    // A block that is given back unless kept.
    struct borrowed {
        memory_reference memory;
        extent held;
        constexpr borrowed(memory_reference from, extent what) noexcept : memory(from), held(what) {}
        borrowed(const borrowed&) = delete;
        borrowed& operator=(const borrowed&) = delete;
        constexpr ~borrowed() { memory.release(held.begin, held.cap); }
        constexpr extent keep() noexcept {
            const extent kept = held;
            held = extent{};
            return kept;
        }
    };

    static constexpr T* raw_pointer(const pointer& from) noexcept {
        if constexpr (std::is_pointer_v<pointer>) {
            return from;
        } else {
            return from == pointer() ? nullptr : std::to_address(from);
        }
    }
    static constexpr extent obtain(memory_reference memory, std::size_t required, std::size_t wanted, bool exactly) {
        if (required > memory.most()) detail::throw_length_error("headroom::vector: past max_size()");
        if (wanted > memory.most()) wanted = memory.most();
        return memory.allocate_surely(required, wanted, exactly);
    }
    // The same, null where memory is refused.
    static constexpr extent try_obtain(memory_reference memory, std::size_t required, std::size_t wanted, bool exactly) {
        if (required > memory.most()) return {};
        if (wanted > memory.most()) wanted = memory.most();
        if constexpr (std::is_reference_v<memory_reference>) {
#if defined(__cpp_exceptions)
            try {
                return memory.allocate(required, wanted, exactly);
            } catch (const std::bad_alloc&) {
                return {};
            }
#else
            return memory.allocate(required, wanted, exactly);
#endif
        } else {
            return memory.allocate(required, wanted, exactly);
        }
    }

    static constexpr void destroy_in(memory_reference memory, [[maybe_unused]] T* first, [[maybe_unused]] T* last) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T> || !Memory::plain()) {
            for (; first != last; ++first) memory.destroy_one(first);
        }
    }

    // As `unfinished`, for functions that have the memory but not the store.
    struct under_construction {
        memory_reference memory;
        T* first;
        T* last;
        constexpr under_construction(memory_reference in, T* from, T* to) noexcept : memory(in), first(from), last(to) {}
        under_construction(const under_construction&) = delete;
        under_construction& operator=(const under_construction&) = delete;
        HEADROOM_ALWAYS_INLINE constexpr ~under_construction() { destroy_in(memory, first, last); }
        constexpr void release() noexcept { first = last; }
    };

    // Builds the elements of [first, last) again at `to`, by moving if that cannot fail. The originals are still to be
    // destroyed, unless they left as bytes.
    static constexpr void build_again(memory_reference memory, T* first, T* last, under_construction& at) {
        for (; first != last; ++first, ++at.last) memory.construct(at.last, std::move_if_noexcept(*first));
    }

    // All elements leave for `to`.
    static constexpr void leave(memory_reference memory, T* first, T* last, T* to) {
        if constexpr (leaves_as_bytes()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                detail::copy_bytes(to, first, static_cast<std::size_t>(last - first));
                return;
            }
        }
        if constexpr (std::is_nothrow_move_constructible_v<T> && Memory::plain()) {
            move_out(memory, first, last, to);
        } else {
            copy_out(memory, first, last, to);
        }
    }
    // One pass: each element is in the cache but once.
    static constexpr void move_out(memory_reference memory, T* first, T* last, T* to) noexcept {
        for (; first != last; ++first, ++to) {
            memory.construct(to, static_cast<T&&>(*first));
            memory.destroy_one(first);
        }
    }

    // Two, because a copy may throw, and then the originals must be there.
    static constexpr void copy_out(memory_reference memory, T* first, T* last, T* to) {
        under_construction built(memory, to, to);
        build_again(memory, first, last, built);
        built.release();
        destroy_in(memory, first, last);
    }
};

}}}    // namespace headroom::detail
