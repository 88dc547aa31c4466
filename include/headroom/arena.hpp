// SPDX-License-Identifier: MIT
// A bump arena over one reservation, with marks: the simplest and fastest way to allocate.
//
// Choose it for one contiguous range: consecutive allocations are adjacent, up to gigabytes, and an address shows which arena it belongs
// to. Choose it too for lifetimes that nest like scopes: mark() at the start of a scope, rewind() at its end. It has no upstream, so
// allocating fails when its reservation is full. Choose monotonic_resource for other upstreams or no bound.
//
// Costs: reserving, about 2 us and some mappings, or 50 ns for a kept range; then about 6 instructions an allocation, and 1.2 us for each
// fresh 4 KiB page, less on memory that was used before. Under AddressSanitizer the unused part is poisoned. Not synchronized.
//
// `arena_resource` makes an arena a std::pmr::memory_resource.
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include <headroom/detail/memory/checks.hpp>
#include <headroom/detail/memory/chunks.hpp>
#include <headroom/reservation.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

class arena {
public:
    // A position to rewind to: the number of bytes used.
    class marker {
        friend class arena;
        std::size_t used_ = 0;
    };

    static constexpr std::size_t default_reserve = (SIZE_MAX >> (sizeof(void*) > 4 ? 32 : 4)) + 1;

    // Reserves 4 GiB (256 MiB with 32-bit addresses); if refused, half, and so on down to 1 MiB. Throws `refused` (a bad_alloc).
    arena() : arena(reserve_default()) {}

    // Reserves `max_bytes`, rounded up to pages, under `policy`. Throws `refused` (a bad_alloc).
    explicit arena(std::size_t max_bytes, const commit_policy& policy = detail::chunk_policy)
        : arena(reservation(max_bytes, policy)) {}

    // Takes over the reservation; overwrites what its memory holds.
    explicit arena(reservation range) noexcept : range_(std::move(range)) { init_from_range(); }

    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    // Moves all blocks to *this; `other` can allocate no more. Invalidates: nothing.
    arena(arena&& other) noexcept
        : cursor_(std::exchange(other.cursor_, nullptr)), limit_(std::exchange(other.limit_, nullptr)),
          range_(std::move(other.range_)) {}
    // Releases the blocks of *this and takes over those of `other`. Invalidates: every block of *this.
    arena& operator=(arena&& other) noexcept {
        if (this != &other) {
            unpoison_all();
            cursor_ = std::exchange(other.cursor_, nullptr);
            limit_ = std::exchange(other.limit_, nullptr);
            range_ = std::move(other.range_);
        }
        return *this;
    }

    // Releases the reservation to the cache of kept ranges or to the system. Invalidates: every block.
    ~arena() { unpoison_all(); }

    // Returns `bytes` at a multiple of `alignment` (a power of two). O(1), except when it commits. Throws `refused` (a bad_alloc) past the
    // end of the reservation, and when the system refuses memory; nothing has changed then. Invalidates: nothing.
    [[nodiscard]] HEADROOM_RETURNS_NONNULL HEADROOM_ALWAYS_INLINE void* allocate(
        std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        return allocate_impl<true>(bytes, alignment);
    }

    // Like allocate(), but returns null instead of throwing.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE void* try_allocate(std::size_t bytes,
                                                            std::size_t alignment = alignof(std::max_align_t)) noexcept {
        return allocate_impl<false>(bytes, alignment);
    }

    // Returns a marker of the current position. O(1). Valid until a rewind to an earlier marker, or reset().
    [[nodiscard]] marker mark() const noexcept {
        marker here;
        here.used_ = used();
        return here;
    }

    // Frees all blocks allocated since `to` was made; their pages stay resident. O(1). Precondition: `to` is a valid marker
    // of this arena. Invalidates: those blocks, and markers made after `to`.
    void rewind(const marker& to) noexcept {
        if constexpr (detail::memory_checked) {
            if (to.used_ > used()) detail::fail_rewind("arena", this, to.used_, used());
        }
        std::byte* const place = range_.data() + to.used_;
        if (place != cursor_) detail::poison(place, static_cast<std::size_t>(cursor_ - place));
        cursor_ = place;
    }

    // Frees all blocks; the pages stay resident. O(1). Invalidates: every block and marker.
    void reset() noexcept { rewind(marker{}); }

    // Gives the pages past used() back to the system. One system call. Invalidates: nothing.
    void trim() noexcept {
        unpoison_unused();
        range_.decommit_from(used());
        limit_ = range_.data() + range_.committed();
        poison_unused();
    }

    // Returns the bytes allocated, with padding for alignment.
    [[nodiscard]] std::size_t used() const noexcept { return static_cast<std::size_t>(cursor_ - range_.data()); }
    [[nodiscard]] std::size_t committed() const noexcept { return range_.committed(); }
    [[nodiscard]] std::size_t reserved() const noexcept { return range_.reserved(); }
    [[nodiscard]] std::byte* data() const noexcept { return range_.data(); }

    // True if `pointer` points into the first used() bytes. O(1).
    [[nodiscard]] bool contains(const void* pointer) const noexcept {
        return detail::address_of(pointer) - detail::address_of(range_.data()) < used();
    }

    // Names the range for owner_of() and the system's list of mappings.
    void name(const char* text) noexcept { range_.name(text); }

private:
    // Returns the reservation of the default constructor. Throws `refused`.
    static reservation reserve_default() {
        std::error_code error;
        reservation range = reservation::up_to(default_reserve, std::size_t{1} << 20, detail::chunk_policy, error);
        if (error) detail::throw_refused("reserve address space", default_reserve, error);
        return range;
    }

    // Makes all of the range unused.
    void init_from_range() noexcept {
        cursor_ = range_.data();
        limit_ = range_.data() + range_.committed();
        poison_unused();
    }
    // Poisons the unused committed bytes, unless all of the range is committed: the sanitizer needs memory for poisoned addresses.
    void poison_unused() noexcept {
        if (limit_ != range_.data() + range_.reserved()) detail::poison(cursor_, static_cast<std::size_t>(limit_ - cursor_));
    }
    void unpoison_unused() noexcept {
        if (cursor_ != limit_) detail::unpoison(cursor_, static_cast<std::size_t>(limit_ - cursor_));
    }

    // Unpoisons all bytes before the range gets another owner.
    void unpoison_all() noexcept {
        if (range_) detail::unpoison(range_.data(), range_.committed());
    }

    // Implements allocate() and try_allocate(): moves the cursor, or takes the slow path. If refused, throws `refused` or returns null.
    template <bool throws>
    HEADROOM_ALWAYS_INLINE void* allocate_impl(std::size_t bytes, std::size_t alignment) noexcept(!throws) {
        bytes += bytes == 0;    // no two blocks at one address
        std::byte* const place = detail::align_up(cursor_, alignment);
        // Sums of 64 bits, with the size bounded, cannot overflow. Aligning can, near the end of 32-bit addresses.
        if (HEADROOM_UNLIKELY(bytes > detail::max_request_bytes || detail::has_wrapped(place, cursor_) ||
                              std::uint64_t{detail::address_of(place)} + bytes > detail::address_of(limit_))) {
            return allocate_slow<throws>(bytes, alignment);
        }
        cursor_ = place + bytes;
        detail::unpoison(place, bytes);
        return place;
    }

    // Slow path of allocate_impl(): commits memory for the block and allocates it. If refused, throws `refused` or returns null.
    template <bool throws>
    HEADROOM_COLD void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept(!throws) {
        const std::size_t pad = (0 - detail::address_of(cursor_)) & (alignment - 1);
        const std::size_t room = range_.reserved() - used();
        std::error_code error = std::make_error_code(std::errc::not_enough_memory);
        if (pad <= room && bytes <= room - pad) {
            const std::size_t needed = used() + pad + bytes;
            error = bytes > detail::max_populated_bytes ? range_.commit_untouched_to(needed) : range_.commit_to(needed);
        }
        if (error) {
            if constexpr (throws) {
                detail::throw_refused("grow an arena", bytes, error);
            } else {
                return nullptr;
            }
        }
        std::byte* const old = limit_;
        limit_ = range_.data() + range_.committed();
        if (old != limit_) detail::poison(old, static_cast<std::size_t>(limit_ - old));
        std::byte* const place = cursor_ + pad;
        cursor_ = place + bytes;
        detail::unpoison(place, bytes);
        return place;
    }

    std::byte* cursor_ = nullptr;    // next free byte
    std::byte* limit_ = nullptr;     // end of the committed bytes
    reservation range_;
};

// An arena as a memory resource. Deallocating does nothing; release() and rewind() free all blocks. Not synchronized.
class arena_resource final : public std::pmr::memory_resource {
public:
    using marker = arena::marker;

    // Makes an arena of its own, like arena() and arena(max_bytes, policy). Throws `refused` (a bad_alloc).
    arena_resource() : own_(std::in_place), arena_(&*own_) {}
    explicit arena_resource(std::size_t max_bytes, const commit_policy& policy = detail::chunk_policy)
        : own_(std::in_place, max_bytes, policy), arena_(&*own_) {}

    // Uses an arena of the program, which must outlive the resource and not move. Never throws.
    explicit arena_resource(arena& over) noexcept : arena_(&over) {}

    arena_resource(const arena_resource&) = delete;
    arena_resource& operator=(const arena_resource&) = delete;
    ~arena_resource() override = default;

    // Allocates from the arena, like arena::allocate().
    [[nodiscard]] HEADROOM_RETURNS_NONNULL HEADROOM_ALWAYS_INLINE void* allocate(
        std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        [[maybe_unused]] const auto remembering = checks_.expect_block();
        void* const block = arena_->allocate(bytes, alignment);
        checks_.on_allocate(block, bytes, alignment);
        return block;
    }
    // Does nothing. Checked builds end the program unless the block was allocated here, with these arguments, and is in use.
    HEADROOM_ALWAYS_INLINE void deallocate(void* block, std::size_t bytes,
                                           std::size_t alignment = alignof(std::max_align_t)) noexcept {
        checks_.on_deallocate(this, block, bytes, alignment);
    }

    // Frees all blocks, also the arena's own, and returns the pages to the system. Invalidates: every block and marker.
    void release() noexcept {
        checks_.on_release();
        arena_->reset();
        arena_->trim();
    }
    // Frees all blocks; the pages stay resident. O(1). Invalidates: every block and marker.
    void rewind() noexcept {
        checks_.on_release();
        arena_->reset();
    }

    // Returns a marker of the arena's current position: arena::mark().
    [[nodiscard]] marker mark() const noexcept { return arena_->mark(); }
    // Frees the blocks allocated since `to` was made: arena::rewind(), with its precondition.
    void rewind(const marker& to) noexcept {
        [[maybe_unused]] std::byte* const before = arena_->data() + arena_->used();
        arena_->rewind(to);
        if constexpr (detail::memory_checked) {
            std::byte* const place = arena_->data() + arena_->used();
            if (place != before) checks_.on_release(place, before);
        }
    }

    [[nodiscard]] arena& underlying() const noexcept { return *arena_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override { return allocate(bytes, alignment); }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override { deallocate(block, bytes, alignment); }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::optional<arena> own_{};
    arena* arena_;
    HEADROOM_NO_UNIQUE_ADDRESS detail::memory_checks checks_{"arena_resource"};
};

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
