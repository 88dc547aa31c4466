// SPDX-License-Identifier: MIT
// Pieces: what memory resources get from upstream or from a reservation, and the arithmetic of addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <system_error>
#include <vector>    // max, min

#include <headroom/detail/attempt.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/poison.hpp>
#include <headroom/reservation.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

HEADROOM_ALWAYS_INLINE std::uintptr_t address_of(const void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
}
HEADROOM_ALWAYS_INLINE std::byte* align_up(std::byte* pointer, std::size_t alignment) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as a number, because it may wrap
    return reinterpret_cast<std::byte*>((detail::address_of(pointer) + alignment - 1) & ~std::uintptr_t{alignment - 1});
}
// True if align_up() went past the last address. Never with 64-bit addresses, and not tested there.
HEADROOM_ALWAYS_INLINE bool has_wrapped(const std::byte* aligned, const std::byte* from) noexcept {
    return sizeof(void*) < 8 && detail::address_of(aligned) < detail::address_of(from);
}
constexpr std::size_t round_up_to(std::size_t bytes, std::size_t alignment) noexcept {
    return (bytes + alignment - 1) & ~(alignment - 1);
}

// Larger requests are refused before arithmetic on them can overflow.
inline constexpr std::size_t max_request_bytes = SIZE_MAX / 4;
inline constexpr std::size_t max_alignment = std::size_t{1} << (sizeof(std::size_t) * 8 - 4);

// Default commit policy of memory resources: huge pages once a few megabytes are in use, because resources fill what they commit.
inline constexpr commit_policy chunk_policy = headroom::huge_pages(std::size_t{4} << 20);
// Default for resources that threads share: a huge page is at most an eighth of what is in use. Where 9 MiB of blocks pass between
// threads, half of it in huge pages, the peak was 1.13 of glibc's; without huge pages it is 0.98, and a block takes a sixth longer.
inline constexpr commit_policy shared_chunk_policy = headroom::huge_pages(std::size_t{16} << 20);

// True for new_delete_resource(), instead of which chunks may come from reservations: only a replaced operator new shows the difference.
inline bool is_new_delete(const std::pmr::memory_resource* upstream) noexcept {
    return upstream == std::pmr::new_delete_resource();
}

#if defined(__cpp_exceptions)

// Allocates from `upstream`. Throws its exception.
inline void* allocate_upstream(std::pmr::memory_resource* upstream, std::size_t bytes, std::size_t alignment) {
    return upstream->allocate(bytes, alignment);
}
// Allocates from `upstream`. Null if it throws.
inline void* try_allocate_upstream(std::pmr::memory_resource* upstream, std::size_t bytes, std::size_t alignment) noexcept {
    return detail::value_or_on_throw<void*>(nullptr, [&] { return upstream->allocate(bytes, alignment); });
}

#else

// Allocates from `upstream`. Null if that is new_delete_resource() and operator new, which throws in every build, has no memory.
inline void* try_allocate_upstream(std::pmr::memory_resource* upstream, std::size_t bytes, std::size_t alignment) noexcept {
    if (!detail::is_new_delete(upstream)) return upstream->allocate(bytes, alignment);
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(bytes, std::nothrow);
    return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
}
// Allocates from `upstream`. Calls the handler of on_failure() in place of operator new's exception.
inline void* allocate_upstream(std::pmr::memory_resource* upstream, std::size_t bytes, std::size_t alignment) {
    void* const block = detail::try_allocate_upstream(upstream, bytes, alignment);
    if (block == nullptr) detail::throw_bad_alloc();
    return block;
}

#endif

// Throws the exception of `upstream`, by requesting more than it can have; std::bad_alloc if it returns.
[[noreturn]] HEADROOM_COLD inline void throw_upstream_bad_alloc(std::pmr::memory_resource* upstream) {
    // Not constants, because compilers warn of such requests.
    volatile std::size_t bytes = SIZE_MAX;
    volatile std::size_t alignment = SIZE_MAX / 2 + 1;
    (void)detail::allocate_upstream(upstream, bytes, alignment);
    detail::throw_bad_alloc();
}

inline namespace HEADROOM_MEMORY_ABI {

// Memory from upstream or from a reservation, and how to release it.
struct memory_piece {
    std::byte* data = nullptr;
    std::size_t bytes = 0;        // size of the request to upstream, or committed bytes of a reservation
    std::size_t alignment = 0;    // alignment of the request to upstream
    range* control = nullptr;     // of the reservation, or null
    std::size_t reserved = 0;

    // Returns the memory to upstream, or releases the reservation.
    void release(std::pmr::memory_resource* upstream) const {
        detail::unpoison(data, bytes);
        if (control != nullptr) {
            detail::release_range(control, bytes);
        } else {
            upstream->deallocate(data, bytes, alignment);
        }
    }
};

// When committed memory gets its pages.
//   at_once:        in the commit: a fifth cheaper than a fault for each page, if all of it is used
//   at_first_touch: when a page is written to: costs nothing for unused pages
enum class populate : bool { at_once, at_first_touch };

inline constexpr std::size_t max_populated_bytes = std::size_t{64} << 10;
// Returns when a block of `bytes` gets its pages: above max_populated_bytes at first touch, because such a block is often not filled.
[[nodiscard]] constexpr populate populate_for(std::size_t bytes) noexcept {
    return bytes > max_populated_bytes ? populate::at_first_touch : populate::at_once;
}

// Commits at least the first `needed` bytes of a reservation of `reserved` bytes; `how`: when they get pages. Returns the committed bytes
// in total. If refused, sets `error` and returns 0; nothing has changed then.
inline std::size_t commit_for(range* control, std::size_t needed, std::size_t reserved, populate how,
                              std::error_code& error) noexcept {
    if (how == populate::at_once) return detail::commit_to(control, needed, error);
    // Without pages only the call costs something, so commits up to a quarter more, for fewer calls.
    constexpr std::size_t largest_step = std::size_t{128} << 10;
    const std::size_t committed =
        detail::commit_unpopulated(control, (std::min)(reserved, needed + (std::min)(needed / 4, largest_step)), error);
    return error ? detail::commit_exactly(control, needed, error) : committed;
}

// Reserves at least `wanted` bytes, if refused half as much, and so on down to `needed`, and commits at least `needed` of them; unless
// `may_grow`, exactly those, populated at first touch, if no kept range has more. Returns an empty piece if either is refused.
HEADROOM_COLD inline memory_piece reserve_piece(std::size_t wanted, std::size_t needed, populate how = populate::at_once,
                                                const commit_policy& policy = chunk_policy, bool may_grow = true) noexcept {
    std::error_code error;
    const held_range held =
        detail::acquire_range((std::max)(wanted, needed), false, needed, policy, error, may_grow ? 0 : needed);
    if (error) return {};
    memory_piece result{held.base, held.committed, 0, held.control, held.reserved};
    if (held.committed < needed) {
        result.bytes = may_grow ? detail::commit_for(held.control, needed, held.reserved, how, error)
                                : detail::commit_exactly(held.control, needed, error);
        if (error) {
            detail::release_range(held.control);
            return {};
        }
    }
    return result;
}

}    // HEADROOM_MEMORY_ABI

}}}    // namespace headroom::detail
