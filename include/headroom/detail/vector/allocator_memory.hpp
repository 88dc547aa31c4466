// SPDX-License-Identifier: MIT
// Blocks for the elements of a vector with the program's allocator. std::allocator_traits does everything, also with fancy pointers.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>    // allocator_traits

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/heap_memory.hpp>
#include <headroom/detail/std_forward.hpp>
#include <headroom/growth.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

template <class A, class T, class... Args>
concept constructs_from = requires(A& a, T* p, Args&&... args) { a.construct(p, static_cast<Args&&>(args)...); };

// True if the allocator has no construct() or destroy() of its own for these arguments, so that elements of simple types may be built in a
// local and copied as bytes. std::pmr's allocator has, but only passes itself on, which simple types do not accept.
template <class A, class T, class... Args>
inline constexpr bool constructs_plainly =
    !constructs_from<A, T, Args...> && !constructs_from<A, T, const T&> && !constructs_from<A, T, T> &&
    !constructs_from<A, T, T&> && !constructs_from<A, T, const T> && !constructs_from<A, T> &&
    !requires(A& a, T* p) { a.destroy(p); };
template <class U, class T, class... Args>
inline constexpr bool constructs_plainly<std::pmr::polymorphic_allocator<U>, T, Args...> =
    !std::uses_allocator<T, std::pmr::polymorphic_allocator<U>>::value;
// A polymorphic_allocator passes itself on to both halves of a pair.
template <class U, class A, class B, class... Args>
inline constexpr bool constructs_plainly<std::pmr::polymorphic_allocator<U>, std::pair<A, B>, Args...> =
    constructs_plainly<std::pmr::polymorphic_allocator<U>, std::remove_cv_t<A>> &&
    constructs_plainly<std::pmr::polymorphic_allocator<U>, std::remove_cv_t<B>>;

template <class T, class A, class Policy>
struct allocator_memory {
    using traits = std::allocator_traits<A>;
    using value_type = T;
    using pointer = typename traits::pointer;
    using const_pointer = typename traits::const_pointer;
    using allocator_type = A;
    using reference_type = allocator_memory&;

    template <class... Args>
    static constexpr bool uses_default_construct_() noexcept {
        return constructs_plainly<A, T, Args...>;
    }
    static constexpr bool can_realloc() noexcept { return false; }
    static constexpr bool annotates_() noexcept { return false; }
    static constexpr bool has_bulk() noexcept { return false; }

    constexpr allocator_memory() noexcept(std::is_nothrow_default_constructible_v<A>) = default;
    constexpr explicit allocator_memory(const A& from) noexcept : allocator_(from) {}
    constexpr explicit allocator_memory(A&& from) noexcept : allocator_(std::move(from)) {}
    [[nodiscard]] constexpr A& allocator() noexcept { return allocator_; }
    [[nodiscard]] constexpr const A& allocator() const noexcept { return allocator_; }
    [[nodiscard]] constexpr std::size_t max_size() const noexcept {
        const auto theirs = traits::max_size(allocator_);
        // The allocator's difference_type is a limit too. Written without <limits>, which takes long to compile.
        using difference = std::make_unsigned_t<typename traits::difference_type>;
        constexpr auto countable = static_cast<std::size_t>(static_cast<difference>(-1) >> 1);
        constexpr std::size_t ours =
            detail::max_array_size(sizeof(T)) < countable ? detail::max_array_size(sizeof(T)) : countable;
        return theirs < ours ? static_cast<std::size_t>(theirs) : ours;
    }

    // Returns the capacity to grow to from a full block of `size` elements, at least `required`. The first block fills a cache line.
    [[nodiscard]] constexpr std::size_t next_capacity(std::size_t size, std::size_t required) const noexcept {
        constexpr std::size_t line = sizeof(T) < 64 ? 64 / sizeof(T) : 1;
        const std::size_t wanted = detail::apply_growth<typename Policy::growth>(size, required, sizeof(T));
        const std::size_t enough = wanted < line && !HEADROOM_CONSTANT_EVALUATED() ? line : wanted;
        return enough < max_size() ? enough : max_size();
    }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr void construct_(T* place, Args&&... args) {
        traits::construct(allocator_, place, static_cast<Args&&>(args)...);
    }
    HEADROOM_ALWAYS_INLINE constexpr void destroy_one_(T* place) noexcept { traits::destroy(allocator_, place); }
    constexpr void destroy_([[maybe_unused]] T* first, [[maybe_unused]] T* last) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T> || !uses_default_construct_()) {
            for (; first != last; ++first) destroy_one_(first);
        }
    }

    // Throws what the allocator throws. With `Quiet`, returns null instead of std::bad_alloc.
    template <bool Quiet>
    [[nodiscard]] constexpr block<pointer> allocate([[maybe_unused]] std::size_t required, std::size_t wanted,
                                                    [[maybe_unused]] bool exactly) {
#if defined(__cpp_exceptions)
        if constexpr (Quiet) {
            try {
                return allocate<false>(required, wanted, exactly);
            } catch (const std::bad_alloc&) {
                return {};
            }
        }
#endif
        const pointer begin = traits::allocate(allocator_, static_cast<typename traits::size_type>(wanted));
        return {begin, begin + static_cast<typename traits::difference_type>(wanted)};
    }
    // As heap_memory's. Throw std::length_error past max_size() too.
    [[nodiscard]] constexpr block<pointer> allocate_slow(std::size_t size, std::size_t required, bool exactly) {
        if (required > max_size()) detail::throw_length_error("headroom::vector: past max_size()");
        return allocate<false>(required, exactly ? required : next_capacity(size, required), exactly);
    }
    [[nodiscard]] constexpr block<pointer> expand_or_allocate(pointer begin, pointer end, const pointer&, std::size_t required,
                                                              bool exactly) {
        return allocate_slow(static_cast<std::size_t>(end - begin), required, exactly);
    }
    [[nodiscard]] constexpr block<pointer> allocate_for_steps(std::size_t count, std::size_t& step) {
        step = count;
        return allocate_slow(0, count, true);
    }
    [[nodiscard]] constexpr block<pointer> expand_for_steps(pointer begin, pointer end, const pointer&, std::size_t count,
                                                            std::size_t& step) {
        const auto size = static_cast<std::size_t>(end - begin);
        if (count > max_size() - size) detail::throw_length_error("headroom: past max_size()");
        step = count;
        return allocate_slow(size, size + count, false);
    }
    [[nodiscard]] static constexpr std::size_t next_step(const pointer&, const pointer&, const pointer&, std::size_t left,
                                                         std::size_t) noexcept {
        return left;
    }
    [[nodiscard]] static constexpr bool is_short(std::size_t) noexcept { return false; }
    [[nodiscard]] static constexpr bool grows_exactly(std::size_t) noexcept { return false; }
    [[nodiscard]] constexpr block<pointer> allocate_short(std::size_t count) { return allocate_slow(0, count, true); }
    [[nodiscard]] constexpr block<pointer> block_for_one_more(const pointer& begin, const pointer& cap, bool) {
        const auto size = static_cast<std::size_t>(cap - begin);
        return allocate_slow(size, size + 1, false);
    }
    constexpr void release_slow(pointer begin, pointer cap) noexcept { release(begin, cap); }
    constexpr void release(pointer begin, pointer cap) noexcept {
        if (begin != pointer()) {
            traits::deallocate(allocator_, begin, static_cast<typename traits::size_type>(cap - begin));
        }
    }
    [[nodiscard]] static constexpr bool try_charge_(const pointer&, const pointer&, std::size_t) noexcept { return false; }
    [[nodiscard]] static constexpr pointer try_expand_in_place_(pointer, pointer, std::size_t, bool) noexcept {
        return pointer();
    }
    [[nodiscard]] static constexpr pointer trim_block(pointer, pointer cap, std::size_t) noexcept { return cap; }
    [[nodiscard]] static constexpr pointer trim_to_capacity(pointer, pointer cap, std::size_t) noexcept { return cap; }
    [[nodiscard]] static constexpr bool has_waste(const pointer&, std::size_t size, std::size_t capacity) noexcept {
        return size != capacity;
    }

private:
    HEADROOM_NO_UNIQUE_ADDRESS A allocator_{};
};

}}}    // namespace headroom::detail
