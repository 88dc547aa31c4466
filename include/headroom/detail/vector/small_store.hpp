// SPDX-License-Identifier: MIT
// The store of small_vector: movable_store_, with the first N elements in the object itself. The capacity shows where the elements are:
// inline if it is at most N, in a block if more. They leave the inline buffer only for a capacity of more than N, and shrink_to_fit()
// brings them back. So movable_store_'s handling of blocks stays as it is.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>    // allocator

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/heap_memory.hpp>
#include <headroom/detail/vector/movable_store.hpp>
#include <headroom/detail/vector/sources.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Memory for more than N elements, like a vector's. Up to N it is the inline buffer, never freed, expanded or reallocated.
template <class T, std::size_t N, class Policy>
struct small_vector_memory : heap_memory<T, Policy, N> {
    using base_ = heap_memory<T, Policy, N>;
    using reference_type = small_vector_memory;
    using base_::base_;

    [[nodiscard]] static constexpr bool is_inline(const T* begin, const T* cap) noexcept {
        return static_cast<std::size_t>(cap - begin) <= N;
    }

    static constexpr void release(T* begin, T* cap) noexcept {
        // In constant evaluation nothing is inline: see small_store_::inline_storage_().
        if (HEADROOM_CONSTANT_EVALUATED() || !is_inline(begin, cap)) base_::release(begin, cap);
    }
    static constexpr void release_slow(T* begin, T* cap) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return release(begin, cap);
        base_::release_slow(begin, cap);
    }
    // Replaces the block, or the inline buffer, of relocatable elements by one for `required`, with geometric growth unless `exactly`.
    [[nodiscard]] HEADROOM_NOINLINE static block<T*> reallocate(T* begin, T* end, T* cap, std::size_t required, bool exactly) {
        if (!is_inline(begin, cap)) return base_::reallocate(begin, end, cap, required, exactly);
        const auto size = static_cast<std::size_t>(end - begin);
        const block<T*> to = base_::allocate_slow(size, required, exactly);
        detail::copy_bytewise(to.begin, begin, size);
        return to;
    }
    HEADROOM_COLD static block<T*> reallocate_by_one(T* begin, T* end) {
        if (!is_inline(begin, end)) return base_::reallocate_by_one(begin, end);
        return reallocate(begin, end, end, static_cast<std::size_t>(end - begin) + 1, false);
    }
};

// Raw memory for N elements, in the object.
template <class T, std::size_t N>
struct inline_buffer {
    // Leaves the bytes unset. MSVC reads them in constant evaluation.
    constexpr inline_buffer() noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            for (std::byte& each : bytes) each = std::byte{};
        }
    }
    [[nodiscard]] void* begin() noexcept { return bytes; }
    [[nodiscard]] const void* begin() const noexcept { return bytes; }
    alignas(T) std::byte bytes[N * sizeof(T)];
};
template <class T>
struct inline_buffer<T, 0> {
    [[nodiscard]] static void* begin() noexcept { return nullptr; }
};

// A store with the buffer behind its pointers. Without elements inside there is no member, for which MSVC would pad the object.
template <class Store, class T, std::size_t N>
class with_inline_buffer_ : public Store {
protected:
    HEADROOM_NO_UNIQUE_ADDRESS inline_buffer<T, N> buffer_{};
};
template <class Store, class T>
class with_inline_buffer_<Store, T, 0> : public Store {
protected:
    static constexpr inline_buffer<T, 0> buffer_{};
};

template <class T, std::size_t N, class Policy>
class small_store_ : public with_inline_buffer_<movable_store_<small_vector_memory<T, N, Policy>>, T, N> {
    using memory_kind_ = small_vector_memory<T, N, Policy>;
    using base_ = movable_store_<memory_kind_>;

public:
    using base_::begin_;
    using base_::cap_;
    using base_::end_;
    using base_::memory_;

    static constexpr const char* container_name_ = "small_vector";
    // Does not need T to be complete if N is 0.
    static constexpr bool nothrow_move_ = std::disjunction_v<std::bool_constant<N == 0>, std::is_nothrow_move_constructible<T>>;

    // Leaves the pointers null: reset_to_inline_() or steal_() must follow.
    struct uninitialized_tag_ {};
    constexpr explicit small_store_(uninitialized_tag_) noexcept {}
    constexpr small_store_() noexcept { reset_to_inline_(); }
    constexpr explicit small_store_(const std::allocator<T>&) noexcept : small_store_() {}

    [[nodiscard]] constexpr bool is_inline_() const noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return memory_kind_::is_inline(begin_, cap_);
        return begin_ == this->buffer_.begin();    // fewer instructions than by the capacity
    }
    // False for inline elements: a frame or object may end without a call that could remove the poison.
    [[nodiscard]] constexpr bool annotates_() const noexcept { return memory_kind_::annotates_() && !is_inline_(); }

    // Makes the store empty, with the inline buffer. Releases nothing.
    HEADROOM_ALWAYS_INLINE constexpr void reset_to_inline_() noexcept {
        begin_ = end_ = inline_storage_();
        cap_ = begin_ + N;
    }

    // Allocates a block if `count` elements do not fit inline, as movable_store_ does. Precondition: the store is empty and inline.
    constexpr void allocate_(std::size_t count) {
        if (count <= N) return;
        if (HEADROOM_CONSTANT_EVALUATED()) memory_.release(begin_, cap_);
        base_::allocate_(count);
    }
    // As movable_store_'s. Commits more than N from the start, because the capacity shows where the elements are.
    [[nodiscard]] constexpr std::size_t allocate_for_steps_(std::size_t count, std::size_t step) {
        if (count <= N) return count;
        if (HEADROOM_CONSTANT_EVALUATED()) memory_.release(begin_, cap_);
        return base_::allocate_for_steps_(count, step > N ? step : N + 1);
    }

    // As movable_store_'s. The capacity of a block stays above N, since it shows that the elements are not inside.
    constexpr void restore_capacity_(std::size_t count) noexcept {
        base_::restore_capacity_(is_inline_() || count > N ? count : N + 1);
    }

    // Brings at most N elements back into the inline buffer; otherwise like movable_store_.
    constexpr void shrink_store_() {
        if (is_inline_()) return;
        if (static_cast<std::size_t>(end_ - begin_) > N) return base_::shrink_store_();
        base_::run_ignoring_exceptions_([this] {
            T* const to = inline_storage_();
            const auto size = static_cast<std::size_t>(end_ - begin_);
            base_::relocate_around_gap_(memory_, begin_, end_, end_, to, to + size);
            memory_.release_slow(begin_, cap_);
            begin_ = to;
            end_ = to + size;
            cap_ = to + N;
        });
    }

    // Takes the block of `from`, or moves its inline elements; `from` is empty then. Precondition: this store owns no block. If a move
    // throws, this store is empty, and `from` keeps its elements as the moves left them.
    HEADROOM_ALWAYS_INLINE constexpr void steal_(small_store_& from) noexcept(nothrow_move_) {
        if (from.is_inline_()) {
            reset_to_inline_();
            move_elements_from_(from);
        } else {
            base_::steal_(from);
            from.reset_to_inline_();
        }
    }

    // Moves the inline elements of `from` into this empty store, which has the capacity for them.
    constexpr void move_elements_from_(small_store_& from) noexcept(nothrow_move_) {
        if constexpr (is_trivially_relocatable_v<T>) {
            HEADROOM_IF_RUN_TIME {
                copy_inline_bytes_(from);
                from.end_ = from.begin_;
                return;
            }
        }
        end_ = detail::move_source(from.begin_).construct_(*this, begin_, 0, static_cast<std::size_t>(from.end_ - from.begin_));
        from.destroy_(from.begin_, from.end_);
        from.end_ = from.begin_;
    }
    // Copies the bytes of the inline elements of `from` into this empty store. Copies the whole of a short buffer, because a constant
    // count takes a few instructions and no call. Hides the source from the compiler, which would warn.
    HEADROOM_ALWAYS_INLINE void copy_inline_bytes_(const small_store_& from) noexcept {
        const auto count = static_cast<std::size_t>(from.end_ - from.begin_);
        const T* all = from.begin_;
        HEADROOM_LOAD_SEPARATELY(all);
        detail::copy_bytewise(begin_, all, N * sizeof(T) <= 128 ? N : count);
        end_ = begin_ + count;
    }

    // Destroys the elements and releases a block. The members dangle afterwards.
    HEADROOM_ALWAYS_INLINE constexpr void destroy_and_release_() noexcept {
        this->destroy_(begin_, end_);
        if (HEADROOM_CONSTANT_EVALUATED() || HEADROOM_UNLIKELY(!is_inline_())) {
#if defined(HEADROOM_ASAN)
            if (!HEADROOM_CONSTANT_EVALUATED() && memory_kind_::annotates_()) detail::unpoison_all(begin_, cap_, end_);
#endif
            heap_memory<T, Policy, N>::release(begin_, cap_);
        }
    }

private:
    // Returns the inline buffer of N elements. In constant evaluation there is none, and each call allocates a block of N.
    [[nodiscard]] constexpr T* inline_storage_() noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) return std::allocator<T>{}.allocate(N);
        return static_cast<T*>(this->buffer_.begin());
    }
};

}}}    // namespace headroom::detail
