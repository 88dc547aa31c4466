// SPDX-License-Identifier: MIT
// AddressSanitizer's container annotations: marks which part of a container's capacity holds elements, so that an access past size() is
// reported although the memory is the container's own. Compiles to nothing without AddressSanitizer, and with HEADROOM_NO_ASAN_ANNOTATIONS
// or, as for the standard library, __SANITIZER_DISABLE_CONTAINER_OVERFLOW__. Define these for all files of a program alike, above all if
// some are built without the sanitizer.
//
// Poisons only committed memory: the sanitizer needs an eighth of it as real memory for its marks.
#pragma once

#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

#if !defined(HEADROOM_NO_ASAN_ANNOTATIONS) && !defined(__SANITIZER_DISABLE_CONTAINER_OVERFLOW__)
#if defined(__SANITIZE_ADDRESS__)
#define HEADROOM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEADROOM_ASAN 1
#endif
#endif
#endif

#if defined(HEADROOM_ASAN)

extern "C" void __sanitizer_annotate_contiguous_container(const void* begin, const void* end, const void* old_middle,
                                                          const void* new_middle);
extern "C" void __asan_unpoison_memory_region(const volatile void* from, std::size_t bytes);

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr bool annotated = true;

// Makes [begin, new_middle) accessible, where [begin, old_middle) was, and poisons the rest up to `end`, the end of the capacity.
inline void move_poison_boundary(const void* begin, const void* end, const void* old_middle, const void* new_middle) noexcept {
    if (begin != end && old_middle != new_middle) {
        ::__sanitizer_annotate_contiguous_container(begin, end, old_middle, new_middle);
    }
}

// Unpoisons the eight bytes that contain the end of a capacity. The sanitizer has one mark for eight bytes; those past the end would stay
// poisoned in a larger capacity, and for the next owner of the memory. They belong to the container or are padding of its heap block.
inline void unpoison_shadow_granule(const void* limit) noexcept {
    const std::size_t inside = reinterpret_cast<std::uintptr_t>(limit) % 8;
    if (inside != 0) ::__asan_unpoison_memory_region(static_cast<const std::byte*>(limit) - inside, 8);
}

// Unpoisons the capacity from `middle` to `end`, and the eight bytes that contain `end`, for the next owner of the memory.
inline void unpoison_all(const void* begin, const void* end, const void* middle) noexcept {
    detail::move_poison_boundary(begin, end, middle, end);
    detail::unpoison_shadow_granule(end);
}

// Scope guard: makes `count` elements past the end writable. At its end poisons what is then past the end.
template <class Sequence>
class tail_write_guard {
public:
    constexpr tail_write_guard(Sequence& sequence, decltype(sizeof(0)) count) noexcept : sequence_(sequence), count_(count) {
        HEADROOM_IF_RUN_TIME {
            from_ = sequence_.annotated_end_() + count_;
            sequence_.annotate_tail_(sequence_.annotated_end_(), from_);
        }
    }
    constexpr ~tail_write_guard() { HEADROOM_IF_RUN_TIME sequence_.annotate_tail_(from_, sequence_.annotated_end_()); }
    tail_write_guard(const tail_write_guard&) = delete;
    tail_write_guard& operator=(const tail_write_guard&) = delete;

private:
    Sequence& sequence_;
    decltype(sizeof(0)) count_;
    decltype(sequence_.annotated_end_()) from_ = nullptr;
};

// Scope guard: makes the whole capacity writable; it may be replaced meanwhile. At its end poisons what is then past the end.
template <class Sequence>
class capacity_write_guard {
public:
    constexpr explicit capacity_write_guard(Sequence& sequence) noexcept : sequence_(sequence) {
        HEADROOM_IF_RUN_TIME {
            sequence_.annotate_tail_(sequence_.annotated_end_(), sequence_.annotated_capacity_());
            detail::unpoison_shadow_granule(sequence_.annotated_capacity_());
        }
    }
    constexpr ~capacity_write_guard() {
        HEADROOM_IF_RUN_TIME { sequence_.annotate_tail_(sequence_.annotated_capacity_(), sequence_.annotated_end_()); }
    }
    capacity_write_guard(const capacity_write_guard&) = delete;
    capacity_write_guard& operator=(const capacity_write_guard&) = delete;

private:
    Sequence& sequence_;
};

}}}    // namespace headroom::detail

#define HEADROOM_UNPOISON_TAIL(count) const detail::tail_write_guard headroom_window_(*this, count)
#define HEADROOM_UNPOISON_CAPACITY() const detail::capacity_write_guard headroom_open_(*this)

#else

namespace headroom { inline namespace v0_1 { namespace detail {
inline constexpr bool annotated = false;
}}}    // namespace headroom::detail

#define HEADROOM_UNPOISON_TAIL(count) static_cast<void>(0)
#define HEADROOM_UNPOISON_CAPACITY() static_cast<void>(0)

#endif
