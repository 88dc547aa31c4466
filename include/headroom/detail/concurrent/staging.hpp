// SPDX-License-Identifier: MIT
// Staging of elements outside of the vector, where a constructor may throw or call anything. Relocating them to their slots cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/range/admitting.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Tests move construction, because compilers call a type that can be neither copied nor moved trivially copyable.
template <class T>
inline constexpr bool nothrow_relocatable = std::is_nothrow_destructible_v<T> && std::is_move_constructible_v<T> &&
                                            (is_trivially_relocatable_v<T> || std::is_nothrow_move_constructible_v<T>);

// Heap memory for `count` elements behind a header of type Header.
template <class Header, class T>
struct staging_block {
    static constexpr std::size_t alignment = alignof(T) > alignof(Header) ? alignof(T) : alignof(Header);
    static constexpr std::size_t offset = (sizeof(Header) + alignof(T) - 1) / alignof(T) * alignof(T);

    // Throws std::length_error if no block can be that large, std::bad_alloc when memory is refused.
    [[nodiscard]] static Header* allocate(std::size_t count) {
        constexpr std::size_t most = (SIZE_MAX / 2 - offset) / sizeof(T);
        if (count > most) detail::throw_length_error("headroom: no batch is that long");
        if (!detail::try_admit(offset + count * sizeof(T))) detail::throw_bad_alloc();
        return ::new (::operator new(offset + count * sizeof(T), std::align_val_t{alignment})) Header;
    }
    static void deallocate(Header* block) noexcept {
        block->~Header();
        ::operator delete(static_cast<void*>(block), std::align_val_t{alignment});
    }
    [[nodiscard]] static T* elements(Header* block) noexcept {
        return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(block) + offset);
    }
};

// A growing array of elements that no other thread sees.
template <class T>
class staging {
public:
    staging() noexcept = default;
    staging(const staging&) = delete;
    staging& operator=(const staging&) = delete;
    ~staging() {
        for (T* each = first_; each != last_; ++each) each->~T();
        if (block_ != nullptr) block::deallocate(block_);
    }

    // Throws std::bad_alloc, std::length_error; nothing has changed then.
    void reserve(std::size_t count) {
        if (count <= static_cast<std::size_t>(limit_ - first_)) return;
        nothing* const larger = block::allocate(count);
        T* const place = block::elements(larger);
        last_ = headroom::uninitialized_relocate(first_, last_, place);
        first_ = place;
        limit_ = place + count;
        if (block_ != nullptr) block::deallocate(block_);
        block_ = larger;
    }
    template <class... Args>
    void emplace_back(Args&&... args) {
        emplace_with([&](T* place) {
            HEADROOM_CONVERSIONS_BEGIN
            ::new (static_cast<void*>(place)) T(static_cast<Args&&>(args)...);
            HEADROOM_CONVERSIONS_END
        });
    }

    // Appends the element that build(place) builds.
    template <class Build>
    void emplace_with(const Build& build) {
        if (last_ == limit_) reserve(first_ == last_ ? 1 : 2 * size());
        build(last_);
        ++last_;
    }

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(last_ - first_); }
    // Relocates the last `count` elements to `place`.
    void relocate_to(T* place, std::size_t count) noexcept {
        static_cast<void>(headroom::uninitialized_relocate(last_ - count, last_, place));
        last_ -= count;
    }

private:
    struct nothing {};
    using block = staging_block<nothing, T>;

    T* first_ = nullptr;
    T* last_ = nullptr;
    T* limit_ = nullptr;
    nothing* block_ = nullptr;
};

// Staging for one element, on the stack.
template <class T>
class single_staging {
public:
    single_staging() noexcept = default;
    HEADROOM_ALWAYS_INLINE ~single_staging() {
        if (has_element_) place()->~T();
    }
    single_staging(const single_staging&) = delete;
    single_staging& operator=(const single_staging&) = delete;

    template <class... Args>
    HEADROOM_ALWAYS_INLINE void emplace_back(Args&&... args) {
        HEADROOM_CONVERSIONS_BEGIN
        ::new (static_cast<void*>(place())) T(static_cast<Args&&>(args)...);
        HEADROOM_CONVERSIONS_END
        has_element_ = true;
    }
    HEADROOM_ALWAYS_INLINE void relocate_to(T* to, std::size_t) noexcept {
        static_cast<void>(headroom::uninitialized_relocate(place(), place() + 1, to));
        has_element_ = false;
    }

private:
    [[nodiscard]] T* place() noexcept { return reinterpret_cast<T*>(bytes_); }

    alignas(T) std::byte bytes_[sizeof(T)];
    bool has_element_ = false;
};

}}}    // namespace headroom::detail
