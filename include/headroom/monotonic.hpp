// SPDX-License-Identifier: MIT
// A memory resource that never reuses a single block, and frees all blocks at once.
//
// Choose it for data that are built, used and dropped together: one request, one frame, one parse. Allocating moves a pointer
// (about 6 instructions), deallocating does nothing, and the nodes of a container lie in memory in the order in which they
// were built. Do not choose it for containers that insert and erase: memory grows until release() or rewind().
//
// Differences from std::pmr::monotonic_buffer_resource:
//   - rewind() frees all blocks but keeps every chunk, so the memory is still resident in the next round: fresh pages are the
//     largest cost of growing. mark() and rewind(mark) do the same for the blocks allocated since the mark.
//   - Called on the concrete type (or through resource_allocator) allocate and deallocate are inline, without a virtual
//     call; through std::pmr::memory_resource* they are virtual. One class serves both.
//   - With the default upstream, chunks of 64 KiB and more come from reservations: they grow in place, and go to the warm
//     cache when they are freed. This happens only while the default resource is new_delete_resource(); another one, and
//     every upstream that is named, gets every request.
//   - Under AddressSanitizer the unused part is poisoned; checked builds (HEADROOM_CHECKED) find wrong deallocations.
//
// Not synchronized. Document: P0089R0 (strategies AS3 to AS6).
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>    // max

#include <headroom/detail/memory/checks.hpp>
#include <headroom/detail/memory/chunks.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

class monotonic_resource final : public std::pmr::memory_resource {
public:
    // A position to rewind to: blocks allocated after it are freed, blocks allocated before it stay.
    class marker {
        friend class monotonic_resource;
        detail::chunk_chain::position position_{};
    };

    // Chunks come from the default resource, larger ones from reservations if that is new_delete_resource(). Allocates nothing.
    monotonic_resource() noexcept : monotonic_resource(first_chunk) {}

    // Chunks come from `upstream`, which must outlive the resource. Allocates nothing. Never throws.
    explicit monotonic_resource(std::pmr::memory_resource* upstream) noexcept : chain_(upstream, false) {}

    // The first chunk has at least `initial_bytes`, and is made by the first allocation.
    explicit monotonic_resource(std::size_t initial_bytes) noexcept
        : monotonic_resource(initial_bytes, std::pmr::get_default_resource(), true) {}
    monotonic_resource(std::size_t initial_bytes, std::pmr::memory_resource* upstream) noexcept
        : chain_(upstream, false, initial_bytes) {}

    // Uses `buffer` first, then chunks, the first of `bytes` bytes or more. The buffer stays the caller's and must outlive the resource.
    // Precondition: buffer points to `bytes` bytes, or bytes is 0.
    monotonic_resource(void* buffer, std::size_t bytes) noexcept
        : monotonic_resource(bytes, std::pmr::get_default_resource(), true) {
        if (buffer != nullptr) chain_.use_buffer(buffer, bytes);
    }
    monotonic_resource(void* buffer, std::size_t bytes, std::pmr::memory_resource* upstream) noexcept
        : chain_(upstream, false, bytes) {
        if (buffer != nullptr) chain_.use_buffer(buffer, bytes);
    }

    monotonic_resource(const monotonic_resource&) = delete;
    monotonic_resource& operator=(const monotonic_resource&) = delete;

    // Calls release(). Invalidates: every block.
    ~monotonic_resource() override = default;

    // Returns `bytes` at a multiple of `alignment` (a power of two). O(1), except for a new chunk. Throws what upstream throws when it
    // refuses a chunk, bad_alloc for sizes that no memory has; nothing has changed then. Invalidates: nothing.
    [[nodiscard]] HEADROOM_RETURNS_NONNULL HEADROOM_ALWAYS_INLINE void* allocate(
        std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
        [[maybe_unused]] const auto remembering = checks_.expect_block();
        const std::size_t asked = bytes;
        bytes += bytes == 0;    // no two blocks at one address
        std::byte* place = detail::align_up(chain_.cursor, alignment);
        // Sums of 64 bits, with the size bounded, cannot overflow. Aligning can, near the end of 32-bit addresses.
        if (HEADROOM_UNLIKELY(bytes > detail::max_request_bytes || detail::has_wrapped(place, chain_.cursor) ||
                              std::uint64_t{detail::address_of(place)} + bytes > detail::address_of(chain_.limit))) {
            place = place_in_next_chunk(bytes, alignment);
        }
        chain_.cursor = place + bytes;
        detail::unpoison(place, bytes);
        checks_.on_allocate(place, asked, alignment);
        return place;
    }

    // Does nothing: only release() and rewind() free memory. Checked builds end the program unless the block is one in use of this one.
    HEADROOM_ALWAYS_INLINE void deallocate(void* block, std::size_t bytes,
                                           std::size_t alignment = alignof(std::max_align_t)) noexcept {
        checks_.on_deallocate(this, block, bytes, alignment);
    }

    // Returns every chunk to upstream and starts again as constructed. O(chunks). Invalidates: every block, every marker.
    void release() noexcept {
        checks_.on_release();
        chain_.release();
    }

    // Frees all blocks and keeps every chunk for the next round. O(1). Invalidates: every block, every marker.
    void rewind() noexcept {
        checks_.on_release();
        chain_.rewind();
    }

    // Returns a marker of the current position. O(1). Valid until release(), rewind(), or a rewind to an earlier marker.
    [[nodiscard]] marker mark() const noexcept {
        marker here;
        here.position_ = chain_.current_position();
        return here;
    }

    // Frees all blocks that were allocated after `to` was made, and keeps their memory for the next ones. O(1).
    // Precondition: `to` is a valid marker of this resource. Invalidates: those blocks, and markers made after `to`.
    void rewind(const marker& to) noexcept {
        if constexpr (detail::memory_checked) {
            chain_.for_each_after(to.position_, [this](std::byte* first, std::byte* last) { checks_.on_release(first, last); });
        }
        chain_.rewind(to.position_);
    }

    // Returns the upstream resource: the named one, or the default resource at the time of construction.
    [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return chain_.upstream(); }

private:
    static constexpr std::size_t first_chunk = detail::chunk_chain::first_bytes;

    // The last argument marks a default upstream: larger chunks come from reservations if it is new_delete_resource().
    monotonic_resource(std::size_t initial_bytes, std::pmr::memory_resource* upstream, bool) noexcept
        : chain_(upstream, detail::is_new_delete(upstream), initial_bytes) {}

    // Slow path of allocate(): makes room in a kept or new chunk and returns the block's place there. Throws upstream's exception.
    HEADROOM_COLD std::byte* place_in_next_chunk(std::size_t bytes, std::size_t alignment) {
        chain_.make_room(bytes, alignment, (std::max)(chain_.min_first_chunk_bytes(), detail::chunk_chain::max_chunk_bytes));
        return detail::align_up(chain_.cursor, alignment);
    }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override { return allocate(bytes, alignment); }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override { deallocate(block, bytes, alignment); }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    detail::chunk_chain chain_;
    HEADROOM_NO_UNIQUE_ADDRESS detail::memory_checks checks_{"monotonic_resource"};
};

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
