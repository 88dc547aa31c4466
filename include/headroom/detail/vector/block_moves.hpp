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
class block_moves_ {
protected:
    using pointer = typename Memory::pointer;
    using memory_reference_ = typename Memory::reference_type;
    using extent_ = block<pointer>;

    // Whether elements may leave a block as bytes.
    static constexpr bool leaves_as_bytes_() noexcept { return Memory::plain_() && is_trivially_relocatable_v<T>; }

    // A block that is given back unless kept.
    struct borrowed_ {
        memory_reference_ memory;
        extent_ held;
        constexpr borrowed_(memory_reference_ from, extent_ what) noexcept : memory(from), held(what) {}
        borrowed_(const borrowed_&) = delete;
        borrowed_& operator=(const borrowed_&) = delete;
        constexpr ~borrowed_() { memory.release(held.begin, held.cap); }
        constexpr extent_ keep() noexcept {
            const extent_ kept = held;
            held = extent_{};
            return kept;
        }
    };

    static constexpr extent_ obtain_(memory_reference_ memory, std::size_t required, std::size_t wanted, bool exactly) {
        if (required > memory.most()) detail::throw_length_error("headroom::vector: past max_size()");
        if (wanted > memory.most()) wanted = memory.most();
        return memory.allocate_surely(required, wanted, exactly);
    }
    // The same, null where memory is refused.
    static constexpr extent_ try_obtain_(memory_reference_ memory, std::size_t required, std::size_t wanted, bool exactly) {
        if (required > memory.most()) return {};
        if (wanted > memory.most()) wanted = memory.most();
        if constexpr (std::is_reference_v<memory_reference_>) {
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

    // The elements of [begin, end) follow into a larger block where new ones have been built: those before `middle` to `to`, the
    // others to `behind`, with the new ones between. The old block is given back. As bytes where they are relocatable, moved where
    // that cannot fail, else copied: when a copy throws, all that was built is destroyed, and the old block is as it was.
    static constexpr void follow_(memory_reference_ memory, pointer begin, pointer middle, pointer end, pointer cap, T* to,
                                  T* behind) {
        T* const first = detail::raw_pointer(begin);
        T* const inner = detail::raw_pointer(middle);
        T* const last = detail::raw_pointer(end);
        if (leaves_as_bytes_() && !HEADROOM_CONSTANT_EVALUATED()) {
            detail::copy_bytes(to, first, static_cast<std::size_t>(inner - first));
            detail::copy_bytes(behind, inner, static_cast<std::size_t>(last - inner));
        } else {
            follow_one_by_one_(memory, first, inner, last, to, behind);
        }
        memory.release(begin, cap);
    }
    HEADROOM_NOINLINE static constexpr void follow_one_by_one_(memory_reference_ memory, T* first, T* inner, T* last, T* to,
                                                               T* behind) {
        if constexpr (std::is_nothrow_move_constructible_v<T> && Memory::plain_()) {
            // Moved and destroyed in one pass: each is in the cache but once.
            T* from = first;
            for (T* part = inner;; part = last, to = behind) {
                for (; from != part; ++from, ++to) {
                    memory.construct_(to, static_cast<T&&>(*from));
                    memory.destroy_one_(from);
                }
                if (part == last) break;
            }
        } else {
            unfinished<Memory> built(memory, to + (inner - first));
            built.end = behind;
            unfinished<Memory> before(memory, to);
            build_again_(memory, first, inner, before);
            build_again_(memory, inner, last, built);
            before.release();
            built.release();
            memory.destroy_(first, last);
        }
    }

private:
    // Builds the elements of [first, last) again, by moving if that cannot fail. The originals are still to be destroyed.
    static constexpr void build_again_(memory_reference_ memory, T* first, T* last, unfinished<Memory>& at) {
        for (; first != last; ++first, ++at.end) memory.construct_(at.end, std::move_if_noexcept(*first));
    }
};

}}}    // namespace headroom::detail
