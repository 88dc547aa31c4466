// SPDX-License-Identifier: MIT
// Upstream memory of monotonic and multipool resources: a chain of chunks, each allocated from by moving a cursor.
//
// A chunk comes from the upstream resource. If the user named no upstream and the default resource is new_delete_resource(), larger chunks
// come from reservations, which grow in place and are kept when released. The first 42 KiB come from upstream in either case, unless
// one block is larger: a reservation takes mappings and page tables, too much for a small resource.
//
// Chunks grow geometrically. The segments of a multipool come from here too, as pieces that belong to no chunk.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <system_error>
#include <utility>
#include <vector>    // max, min

#include <headroom/detail/attempt.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/pieces.hpp>
#include <headroom/detail/memory/poison.hpp>
#include <headroom/detail/range/admitting.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {
inline namespace HEADROOM_MEMORY_ABI {

// Header of a chunk, in its own memory: at upstream's end, so that over-aligned requests waste nothing; at a reservation's start.
struct chunk {
    chunk* next;
    std::byte* first;    // usable bytes: [first, last)
    std::byte* last;
    memory_piece memory;
    std::size_t blocks = 0;    // blocks that a multipool has carved from it, at its last count, less those that it joined
};

class chunk_chain {
public:
    static constexpr std::size_t first_bytes = 512;                          // of the first chunk
    static constexpr std::size_t max_chunk_bytes = std::size_t{16} << 20;    // limit for growing chunks of upstream
    static constexpr std::size_t min_reserved_chunk = std::size_t{64}
                                                      << 10;    // chunks of this size and more come from reservations
    static constexpr std::size_t first_reservation_bytes = std::size_t{64} << 20;    // address space of the first reservation
    static constexpr std::size_t max_reservation_bytes = sizeof(void*) > 4 ? SIZE_MAX >> 30 : std::size_t{256} << 20;

    // `reserve`: larger chunks come from reservations. `initial`: least bytes of the first chunk. Allocates nothing.
    chunk_chain(std::pmr::memory_resource* upstream, bool reserve, std::size_t initial = first_bytes) noexcept
        : upstream_(upstream), initial_((std::min)((std::max)(initial, std::size_t{1}), max_request_bytes)), next_(initial_),
          uses_reservations_(reserve) {}
    chunk_chain(const chunk_chain&) = delete;
    chunk_chain& operator=(const chunk_chain&) = delete;
    ~chunk_chain() {
        release();
        detail::unpoison(buffer_, buffer_bytes_);
    }

    // The free bytes of the active chunk: [cursor, limit). The owner allocates by moving `cursor`.
    std::byte* cursor = nullptr;
    std::byte* limit = nullptr;
    [[nodiscard]] std::size_t bytes_left() const noexcept { return static_cast<std::size_t>(limit - cursor); }
    // True if `bytes` fit into [cursor, limit) at the next multiple of `alignment`.
    [[nodiscard]] bool fits(std::size_t bytes, std::size_t alignment) const noexcept {
        return fits(cursor, limit, bytes, alignment);
    }

    [[nodiscard]] std::pmr::memory_resource* upstream() const noexcept { return upstream_; }
    [[nodiscard]] bool uses_reservations() const noexcept { return uses_reservations_; }
    // True if upstream has ever refused a piece of which a smaller one would do.
    [[nodiscard]] bool was_refused() const noexcept { return was_refused_; }
    [[nodiscard]] std::size_t min_first_chunk_bytes() const noexcept { return initial_; }
    // Sets the commit policy of reservations; `policy` must outlive this.
    void set_commit_policy(const commit_policy& policy) noexcept { policy_ = &policy; }
    // Allocates from `buffer` before the first chunk. It stays the caller's. Precondition: nothing was allocated yet.
    void use_buffer(void* buffer, std::size_t bytes) noexcept {
        buffer_ = static_cast<std::byte*>(buffer);
        buffer_bytes_ = bytes;
        cursor = buffer_;
        limit = buffer_ + bytes;
        detail::poison(buffer_, bytes);
    }

    // Makes room: moves `cursor` and `limit` so that `bytes` fit at the next multiple of `alignment`, in a kept chunk or a new one. One
    // from upstream has about `most` bytes at most, unless `bytes` are more, and room for a whole number of blocks of `unit` bytes. Throws
    // what upstream throws; no block has changed then. Precondition: alignment is a power of two.
    HEADROOM_COLD void make_room(std::size_t bytes, std::size_t alignment, std::size_t most = max_chunk_bytes,
                                 std::size_t unit = 1) {
        if (bytes > max_request_bytes || alignment > max_alignment) detail::throw_upstream_bad_alloc(upstream_);
        if (make_room_in_kept(bytes, alignment)) return;
        add_as_chunk(obtain_piece(bytes, alignment, most, detail::populate_for(bytes), link_bytes, unit));
    }
    // Makes the piece the active chunk. Precondition: it is larger than a chunk's header.
    void add_as_chunk(const memory_piece& memory) noexcept { make_active(add_as_unused(memory)); }
    // Makes the piece a chunk behind the active one, or before the first if that is unused, and returns it. Precondition as above.
    chunk* add_as_unused(const memory_piece& memory) noexcept {
        std::byte* const end = memory.data + memory.bytes;
        const bool reserved = memory.control != nullptr;
        std::byte* const at = reserved ? memory.data : end - link_bytes;
        detail::unpoison(at, sizeof(chunk));
        chunk** const place = insertion_point();
        return *place = new (at) chunk{*place, reserved ? at + link_bytes : memory.data, reserved ? end : at, memory};
    }

    // Like make_room(), without a new chunk: uses the active chunk, its reservation, or a kept chunk. False if none suffices.
    bool make_room_in_kept(std::size_t bytes, std::size_t alignment) noexcept {
        if (fits(bytes, alignment)) return true;
        if (active_ != nullptr && limit == active_->last && commit_more_of(*active_, cursor, bytes, alignment)) {
            limit = active_->last;
            return true;
        }
        // Moves the chosen chunk up, so that those passed over keep their order.
        chunk** const place = insertion_point();
        for (chunk** at = place; *at != nullptr; at = &(*at)->next) {
            chunk* const kept = *at;
            if (!fits(kept->first, kept->last, bytes, alignment) && !commit_more_of(*kept, kept->first, bytes, alignment))
                continue;
            *at = kept->next;
            kept->next = *place;
            *place = kept;
            make_active(kept);
            return true;
        }
        return false;
    }

    // Returns the number of chunks. O(chunks).
    [[nodiscard]] std::size_t count() const noexcept {
        std::size_t result = 0;
        for (const chunk* each = first_; each != nullptr; each = each->next) ++result;
        return result;
    }
    // Makes [first, last), a free part of a chunk in use, the part that is allocated from. O(chunks).
    void use_span(std::byte* first, std::byte* last) noexcept {
        chunk** at = &first_;
        while (first < (*at)->first || first >= (*at)->last) at = &(*at)->next;
        // Chunks behind the active one are unused.
        chunk* const found = *at;
        if (found != active_) {
            *at = found->next;
            found->next = active_->next;
            active_->next = found;
            active_ = found;
        }
        cursor = first;
        limit = last;
    }
    // Sets the number of carved blocks of each chunk to 0.
    void forget_blocks() noexcept {
        for (chunk* each = first_; each != nullptr; each = each->next) each->blocks = 0;
    }
    // Returns the chunk that contains [cursor, limit); null for the caller's buffer, or none.
    [[nodiscard]] chunk* active() const noexcept { return active_; }
    // True if [cursor, limit) is the whole active chunk.
    [[nodiscard]] bool active_is_unused() const noexcept {
        return active_ != nullptr && cursor == active_->first && limit == active_->last;
    }
    // Returns the chunk that contains the address; null if none. O(chunks).
    [[nodiscard]] chunk* find(const void* address) const noexcept {
        chunk* each = first_;
        while (each != nullptr && (address < each->first || address >= each->last)) each = each->next;
        return each;
    }
    // Returns the smallest of upstream's chunks of at least `bytes` for which is_empty(chunk) is true, or null, and their number.
    template <class IsEmpty>
    [[nodiscard]] std::pair<const chunk*, std::size_t> smallest_empty(std::size_t bytes, IsEmpty is_empty) const noexcept {
        const chunk* found = nullptr;
        std::size_t count = 0;
        for (const chunk* each = first_; each != nullptr; each = each->next) {
            if (each->memory.control != nullptr || each->memory.bytes < bytes || !is_empty(*each)) continue;
            if (found == nullptr || each->memory.bytes < found->memory.bytes) found = each;
            ++count;
        }
        return {found, count};
    }
    // Makes each chunk for which is_empty(chunk) is true usable again; with `release`, returns upstream's to it instead. False if there are
    // none. O(chunks).
    template <class IsEmpty>
    bool reuse_empty(bool release, IsEmpty is_empty) noexcept {
        chunk* usable = nullptr;
        chunk* used = nullptr;    // last chunk in use; those after the active one are unused
        bool before_active = active_ != nullptr;
        bool found = false;
        for (chunk** at = &first_; *at != nullptr;) {
            chunk* const each = *at;
            const bool is_active = each == active_;
            if (is_active) before_active = false;
            if (!is_empty(*each)) {
                if (before_active || is_active) used = each;
                at = &each->next;
                continue;
            }
            found = true;
            *at = each->next;
            if (release && each->memory.control == nullptr) {
                const memory_piece memory = each->memory;
                memory.release(upstream_);
            } else {
                each->blocks = 0;
                poison_range(each->first, each->last);
                each->next = std::exchange(usable, each);
            }
            if (is_active) active_ = nullptr;
        }
        if (active_ == nullptr) {
            active_ = used;
            cursor = limit = used != nullptr ? used->last : nullptr;
        }
        while (usable != nullptr) {
            chunk* const each = std::exchange(usable, usable->next);
            chunk** const place = active_ != nullptr ? &active_->next : &first_;
            each->next = std::exchange(*place, each);
        }
        if (release) next_ = initial_;
        return found;
    }

    // Returns the usable bytes of the piece that obtain_piece(bytes, ..., most) would get; SIZE_MAX for a reservation.
    [[nodiscard]] std::size_t next_piece_bytes(std::size_t bytes, std::size_t most) const noexcept {
        return reserves_for(bytes) ? SIZE_MAX : (std::max)(bytes, (std::min)(next_, most));
    }
    // Returns a piece that belongs to no chunk, for `bytes` and `beside` bytes of bookkeeping. From upstream it has the size of the next
    // chunk, about `most` bytes at most, a multiple of `unit`; if upstream throws bad_alloc, half of that, and so on to `bytes`. `how`:
    // when a reservation gets its pages. Throws upstream's exception if `bytes` are refused too.
    [[nodiscard]] memory_piece obtain_piece(std::size_t bytes, std::size_t alignment, std::size_t most, populate how,
                                            std::size_t beside = 0, std::size_t unit = 1) {
        memory_piece memory;
        if (reserves_for(bytes)) memory = try_reserve(bytes, alignment, how, beside);
        if (memory.data == nullptr) memory = obtain_from_upstream(bytes, alignment, most, beside, unit);
        poison_range(memory.data, memory.data + memory.bytes);
        return memory;
    }
    // Commits at least the first `needed` bytes of a piece. False if it has fewer and cannot grow, or the system refuses.
    bool commit_piece(memory_piece& memory, std::size_t needed, populate how) const noexcept {
        if (needed <= memory.bytes) return true;
        if (memory.control == nullptr || needed > memory.reserved) return false;
        std::error_code error;
        const std::size_t committed = detail::commit_for(memory.control, needed, memory.reserved, how, error);
        if (error) return false;
        poison_range(memory.data + memory.bytes, memory.data + committed);
        memory.bytes = committed;
        return true;
    }

    // Returns the bytes of all chunks, requested from upstream or committed in reservations. O(chunks).
    [[nodiscard]] std::size_t bytes() const noexcept {
        std::size_t result = 0;
        for (const chunk* each = first_; each != nullptr; each = each->next) result += each->memory.bytes;
        return result;
    }

    // Releases every chunk to upstream or to the cache of kept ranges. O(chunks).
    void release() noexcept {
        for (chunk* each = first_; each != nullptr;) {
            chunk* const next = each->next;
            const memory_piece memory = each->memory;
            memory.release(upstream_);
            each = next;
        }
        first_ = nullptr;
        next_ = initial_;
        next_reserved_ = first_reservation_bytes;
        reset();
    }

    // Keeps all chunks and allocates from the first, or the buffer, again. O(1); under AddressSanitizer O(bytes).
    void rewind() noexcept {
        if constexpr (poisoning) {
            for (chunk* each = first_; each != nullptr; each = each->next) poison_range(each->first, each->last);
        }
        reset();
        if (buffer_ == nullptr && first_ != nullptr) make_active(first_);
    }

    // A position: the active chunk and the cursor. The first chunk's start counts as the buffer's end: chunks may be inserted before it.
    struct position {
        chunk* active_chunk = nullptr;
        std::byte* cursor = nullptr;
    };
    [[nodiscard]] position current_position() const noexcept {
        if (is_first_chunk_unused()) return {nullptr, buffer_ + buffer_bytes_};
        return {active_, cursor};
    }

    // Frees what was allocated since `to`, an earlier position, and keeps its memory. O(1); under AddressSanitizer O(bytes).
    void rewind(const position& to) noexcept {
        if constexpr (poisoning) for_each_after(to, poison_range);
        active_ = to.active_chunk;
        cursor = to.cursor;
        limit = to.active_chunk != nullptr ? to.active_chunk->last : buffer_ + buffer_bytes_;
    }

    // Calls visit(first, last) for each stretch of bytes that may have been allocated since the position. O(chunks).
    template <class Visit>
    void for_each_after(const position& from, Visit visit) const {
        std::byte* const end = from.active_chunk != nullptr ? from.active_chunk->last : buffer_ + buffer_bytes_;
        if (from.cursor != end) visit(from.cursor, end);
        for (chunk* each = from.active_chunk != nullptr ? from.active_chunk->next : first_; each != nullptr; each = each->next) {
            visit(each->first, each->last);
        }
    }

private:
    static constexpr std::size_t link_bytes = detail::round_up_to(sizeof(chunk), alignof(std::max_align_t));

    static bool fits(const std::byte* from, const std::byte* to, std::size_t bytes, std::size_t alignment) noexcept {
        const auto room = static_cast<std::size_t>(to - from);
        const std::size_t pad = (0 - detail::address_of(from)) & (alignment - 1);
        return pad <= room && bytes <= room - pad;
    }

    // Allocates from upstream. Throws upstream's exception; bad_alloc if the heap would replace a reservation and the system lacks memory.
    std::byte* from_upstream(std::size_t bytes, std::size_t alignment) {
        if (uses_reservations_ && !detail::try_admit(bytes)) detail::throw_bad_alloc();
        return static_cast<std::byte*>(detail::allocate_upstream(upstream_, bytes, alignment));
    }
    // True if obtain_piece() tries a reservation for `bytes`.
    [[nodiscard]] bool reserves_for(std::size_t bytes) const noexcept {
        return uses_reservations_ && (std::max)(next_, bytes) >= min_reserved_chunk;
    }

    // Returns a new reservation as obtain_piece() wants it; an empty piece if refused.
    memory_piece try_reserve(std::size_t bytes, std::size_t alignment, populate how, std::size_t beside) noexcept {
        // A reservation begins at a page, and with the bookkeeping.
        const std::size_t needed = bytes + (beside != 0 ? beside + alignment : 0);
        const std::size_t least = std::bit_ceil((std::max)(needed, beside + (std::min)(next_, max_request_bytes)));
        const memory_piece memory = detail::reserve_piece((std::max)(next_reserved_, least), needed, how, *policy_);
        if (memory.control != nullptr) {
            next_reserved_ = (std::min)((std::max)(next_reserved_, memory.reserved), max_reservation_bytes / 4) * 4;
        }
        return memory;
    }
    // Returns a piece of upstream as obtain_piece() wants it. Throws upstream's exception.
    memory_piece obtain_from_upstream(std::size_t bytes, std::size_t alignment, std::size_t most, std::size_t beside,
                                      std::size_t unit) {
        const std::size_t least = detail::round_up_to(bytes, alignof(std::max_align_t));
        const auto in_units = [&](std::size_t wanted) {
            return (std::max)(least, detail::round_up_to(wanted / unit * unit, alignof(std::max_align_t)));
        };
        std::size_t usable = in_units((std::min)(next_, most));
        memory_piece memory{nullptr, 0, (std::max)(alignment, alignof(std::max_align_t))};
        const auto request = [&] { return from_upstream(memory.bytes = usable + beside, memory.alignment); };
        // A bounded upstream may still have smaller pieces. If it has none either, the next request starts with half the last size.
        const auto halve = [&]() -> std::byte* {
            was_refused_ = true;
            usable = in_units(usable / 2);
            next_ = (std::max)(usable / 2, std::size_t{1});
            return nullptr;
        };
        while (memory.data == nullptr) memory.data = usable > least ? detail::catch_bad_alloc(request, halve) : request();
        // Grows quickly towards reservations; slowly with upstream's chunks only, because upstream may have little left.
        next_ = (std::min)((std::max)(next_, usable), max_chunk_bytes) * (uses_reservations_ ? 4 : 2);
        return memory;
    }

    static void poison_range(std::byte* first, std::byte* last) noexcept {
        if (first != last) detail::poison(first, static_cast<std::size_t>(last - first));
    }

    // Makes no chunk active: [cursor, limit) is the caller's buffer, or empty.
    void reset() noexcept {
        active_ = nullptr;
        cursor = buffer_;
        limit = buffer_ + buffer_bytes_;
        poison_range(cursor, limit);
    }

    // True if the first chunk is active and nothing was allocated from it.
    [[nodiscard]] bool is_first_chunk_unused() const noexcept {
        return active_ != nullptr && active_ == first_ && cursor == active_->first && limit == active_->last;
    }

    void make_active(chunk* next) noexcept {
        active_ = next;
        cursor = next->first;
        limit = next->last;
    }

    // Returns the link where the next chunk is inserted: after the active one, or in front if there is none or is_first_chunk_unused().
    [[nodiscard]] chunk** insertion_point() noexcept {
        return active_ != nullptr && !is_first_chunk_unused() ? &active_->next : &first_;
    }

    // Commits more of a chunk's reservation, so that `bytes` fit after `from`. False if it has none, or too small a one, or is refused.
    bool commit_more_of(chunk& target, const std::byte* from, std::size_t bytes, std::size_t alignment) const noexcept {
        memory_piece& memory = target.memory;
        if (memory.control == nullptr || !fits(from, memory.data + memory.reserved, bytes, alignment)) return false;
        const std::size_t pad = (0 - detail::address_of(from)) & (alignment - 1);
        const std::size_t needed = static_cast<std::size_t>(from - memory.data) + pad + bytes;
        if (!commit_piece(memory, needed, detail::populate_for(bytes))) return false;
        target.last = memory.data + memory.bytes;
        return true;
    }

    std::pmr::memory_resource* upstream_;
    chunk* first_ = nullptr;     // oldest first, except those moved up
    chunk* active_ = nullptr;    // the chunk that is allocated from; null: the caller's buffer, or nothing yet
    std::byte* buffer_ = nullptr;
    std::size_t buffer_bytes_ = 0;
    std::size_t initial_;
    std::size_t next_;                                       // bytes of the next chunk from upstream
    std::size_t next_reserved_ = first_reservation_bytes;    // address space of the next reservation
    bool uses_reservations_;
    bool was_refused_ = false;
    const commit_policy* policy_ = &chunk_policy;
};

}}}}    // namespace headroom::detail
