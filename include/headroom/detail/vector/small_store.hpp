// The floor of small_vector: movable_store_, with room for the first N elements in the object itself.
//
// Where the elements are shows from the capacity: N (or less) inside, more than N outside, since they leave only when there are more,
// and shrink_to_fit() takes them back when there are not. So all that movable_store_ does with blocks stays as it is.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>    // allocator

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/heap_memory.hpp>
#include <headroom/detail/vector/movable_store.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// The memory of more than N elements, as a vector's. A block of N or fewer is no block, but the room inside of the object: it is never
// freed, widened or reallocated.
template <class T, std::size_t N, class Policy>
struct small_vector_memory : heap_memory<T, Policy> {
    using base_ = heap_memory<T, Policy>;
    using reference_type = small_vector_memory;
    using base_::base_;

    [[nodiscard]] static constexpr bool is_inline(const T* begin, const T* cap) noexcept {
        return static_cast<std::size_t>(cap - begin) <= N;
    }

    static constexpr void release(T* begin, T* cap) noexcept {
        // (In constant evaluation nothing is inside: see small_store_::inline_storage_().)
        if (HEADROOM_CONSTANT_EVALUATED() || !is_inline(begin, cap)) base_::release(begin, cap);
    }
    [[nodiscard]] static bool try_charge_(T* begin, T* cap, std::size_t required) noexcept {
        return !is_inline(begin, cap) && base_::try_charge_(begin, cap, required);
    }
    [[nodiscard]] static constexpr T* try_expand_in_place_(T* begin, T* cap, std::size_t required, bool exactly) noexcept {
        return is_inline(begin, cap) ? nullptr : base_::try_expand_in_place_(begin, cap, required, exactly);
    }
    [[nodiscard]] static block<T*> reallocate(T* begin, T* end, T* cap, std::size_t required, bool exactly) {
        if (!is_inline(begin, cap)) return base_::reallocate(begin, end, cap, required, exactly);
        const auto size = static_cast<std::size_t>(end - begin);
        const std::size_t wanted = exactly ? required : base_::next_capacity(size, required);
        const block<T*> to = base_::template allocate<false>(required, wanted, exactly);
        detail::copy_bytes(to.begin, begin, size);
        return to;
    }
    HEADROOM_COLD static block<T*> reallocate_by_one(T* begin, T* end) {
        if (!is_inline(begin, end)) return base_::reallocate_by_one(begin, end);
        return reallocate(begin, end, end, static_cast<std::size_t>(end - begin) + 1, false);
    }
};

// Raw memory for N elements.
template <class T, std::size_t N>
struct inline_buffer {
    [[nodiscard]] void* begin() noexcept { return bytes; }
    [[nodiscard]] const void* begin() const noexcept { return bytes; }
    alignas(T) std::byte bytes[N * sizeof(T)];
};
template <class T>
struct inline_buffer<T, 0> {
    [[nodiscard]] static void* begin() noexcept { return nullptr; }
};

template <class T, std::size_t N, class Policy>
class small_store_ : public movable_store_<small_vector_memory<T, N, Policy>> {
    using memory_kind_ = small_vector_memory<T, N, Policy>;
    using base_ = movable_store_<memory_kind_>;

public:
    using base_::begin_;
    using base_::cap_;
    using base_::end_;
    using base_::memory_;

    static constexpr const char* container_name_ = "small_vector";
    // (Asks nothing of T where none is ever inside: it may be incomplete then.)
    static constexpr bool nothrow_move_ = std::disjunction_v<std::bool_constant<N == 0>, std::is_nothrow_move_constructible<T>>;

    // Nowhere yet: reset_to_inline_() or steal_() comes next.
    struct uninitialized_tag_ {};
    constexpr explicit small_store_(uninitialized_tag_) noexcept {}
    constexpr small_store_() noexcept { reset_to_inline_(); }
    constexpr explicit small_store_(const std::allocator<T>&) noexcept : small_store_() {}

    [[nodiscard]] constexpr bool is_inline_() const noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return memory_kind_::is_inline(begin_, cap_);
        return begin_ == buffer_.begin();    // (the same in fewer instructions)
    }
    // (Not inside: the frame or object around may end, or use it again, without a call that could take the marks back.)
    [[nodiscard]] constexpr bool annotates_() const noexcept { return memory_kind_::annotates_() && !is_inline_(); }

    // Empty, and inside. Forgets what was here.
    HEADROOM_ALWAYS_INLINE constexpr void reset_to_inline_() noexcept {
        begin_ = end_ = inline_storage_();
        cap_ = begin_ + N;
    }

    // Room for `count` elements in an empty store: see movable_store_.
    constexpr void allocate_(std::size_t count, std::size_t few) {
        if (count <= N) return;
        if (HEADROOM_CONSTANT_EVALUATED()) memory_.release(begin_, cap_);
        // (More than N from the start, also of what is filled in steps: see the head of this file.)
        base_::allocate_(count, few > N ? few : N + 1);
    }

    constexpr void shrink_store_() {
        if (is_inline_()) return;
        if (static_cast<std::size_t>(end_ - begin_) > N) return base_::shrink_store_();
        base_::run_ignoring_exceptions_([this] {
            T* const to = inline_storage_();
            const auto size = static_cast<std::size_t>(end_ - begin_);
            base_::relocate_around_gap_(memory_, begin_, end_, end_, cap_, to, to + size);
            begin_ = to;
            end_ = to + size;
            cap_ = to + N;
        });
    }

    // Takes over the block of `from`, or the elements inside, one by one; it is left empty. What was here is forgotten. When a move
    // throws, those that were moved are destroyed, and `from` has what the moves left.
    HEADROOM_ALWAYS_INLINE constexpr void steal_(small_store_& from) noexcept(nothrow_move_) {
        if (from.is_inline_()) {
            reset_to_inline_();
            move_elements_from_(from);
        } else {
            base_::steal_(from);
            from.reset_to_inline_();
        }
    }

    // The elements of `from` are moved here, where there are none, but room. They lie inside.
    constexpr void move_elements_from_(small_store_& from) noexcept(nothrow_move_) {
        if constexpr (is_trivially_relocatable_v<T>) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                copy_inline_bytes_(from);
                from.end_ = from.begin_;
                return;
            }
        }
        end_ = detail::move_source(from.begin_).construct_(*this, begin_, 0, static_cast<std::size_t>(from.end_ - from.begin_));
        from.destroy_(from.begin_, from.end_);
        from.end_ = from.begin_;
    }
    // The bytes of the elements in `from`, which lie inside; here are none. All of a short room is copied, whatever part of it holds
    // elements: a count that is known takes a few instructions and no call. (The compiler, not told where from, gives no warning.)
    HEADROOM_ALWAYS_INLINE void copy_inline_bytes_(const small_store_& from) noexcept {
        const auto count = static_cast<std::size_t>(from.end_ - from.begin_);
        const T* all = from.begin_;
        HEADROOM_LOAD_SEPARATELY(all);
        detail::copy_bytes(begin_, all, N * sizeof(T) <= 128 ? N : count);
        end_ = begin_ + count;
    }

    HEADROOM_ALWAYS_INLINE constexpr void destroy_and_release_() noexcept {
        this->destroy_(begin_, end_);
        if (HEADROOM_CONSTANT_EVALUATED() || HEADROOM_UNLIKELY(!is_inline_())) {
#if defined(HEADROOM_ASAN)
            if (!HEADROOM_CONSTANT_EVALUATED() && memory_kind_::annotates_()) detail::unpoison_all(begin_, cap_, end_);
#endif
            heap_memory<T, Policy>::release(begin_, cap_);
        }
    }

private:
    // Where the elements are while there are at most N. In constant evaluation a block of that size.
    [[nodiscard]] constexpr T* inline_storage_() noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return std::allocator<T>{}.allocate(N);
        return static_cast<T*>(buffer_.begin());
    }

    [[no_unique_address]] inline_buffer<T, N> buffer_;
};

}}}    // namespace headroom::detail
