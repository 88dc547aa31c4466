// SPDX-License-Identifier: MIT
// A segment of a multipool: memory split into pages, with the state of each page in arrays beside it. Adjacent pages form runs: free, a
// slab, or one run block. The fields are private, so that each write keeps what the state claims; only page_runs and slab_pool get a
// segment that is not const.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/pieces.hpp>
#include <headroom/detail/memory/poison.hpp>
#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {
inline namespace HEADROOM_MEMORY_ABI {

// State of a page: what freeing a block needs, in an array of its own, to fit into the first-level cache. The entry of a slab's first page
// has the slab's counts; those of its other pages lead there. The first and the last entry of another run have its length; the entries
// between have no meaning.
class page_state {
public:
    [[nodiscard]] HEADROOM_ALWAYS_INLINE bool is_free() const noexcept { return bin_ == free_run; }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE bool is_slab() const noexcept { return bin_ < free_run; }
    // Returns the pages of the run. Precondition: this is its first entry, or the last of a run that is no slab.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t length() const noexcept {
        return is_slab() ? std::size_t{slab_pages_} : first_free_ | std::size_t{used_} << 16;
    }
    // True if the memory of the free run was returned to the system. Precondition: this is its first entry.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE bool was_discarded() const noexcept { return page_in_slab_ != 0; }
    void set_discarded(bool discarded) noexcept { page_in_slab_ = static_cast<std::uint8_t>(discarded); }

    // Returns the number of the page in its slab, from 0.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t page_in_slab() const noexcept { return page_in_slab_; }
    // The other functions: of the slab that begins at this page.
    [[nodiscard]] bin_index bin() const noexcept { return bin_index{bin_}; }
    // Returns the number of blocks carved.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t carved() const noexcept { return carved_; }
    // Returns the number of blocks in the slab's list of free blocks.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t free() const noexcept { return std::size_t{carved_} - used_; }
    // Returns the offset of the first block in the list, in bytes from this page; -1 if the list is empty. Ends after free() blocks.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::ptrdiff_t first_free() const noexcept { return std::ptrdiff_t{first_free_} - 1; }

    // Counts `count` new blocks, all used.
    HEADROOM_ALWAYS_INLINE void carve(std::size_t count) noexcept {
        carved_ = static_cast<std::uint16_t>(carved_ + count) & 1023U;
        used_ = static_cast<std::uint16_t>(used_ + count);
    }
    // Counts all blocks as used: the list is empty.
    HEADROOM_ALWAYS_INLINE void use_all() noexcept {
        first_free_ = 0;
        used_ = carved_;
    }
    // Counts `count` used blocks as free: a list that begins at `offset`, and that the caller links with the others. True if all are free.
    HEADROOM_ALWAYS_INLINE bool push_free(std::size_t count, std::size_t offset) noexcept {
        first_free_ = static_cast<std::uint16_t>(offset + 1);
        return (used_ = static_cast<std::uint16_t>(used_ - count)) == 0;
    }
    // Makes the slab end after `pages` pages. Precondition: they have all its blocks.
    void shorten(std::size_t pages) noexcept { slab_pages_ = static_cast<std::uint16_t>(pages) & 63U; }

private:
    friend class segment;
    static constexpr std::uint8_t free_run = 0xFE;     // at the ends of a free run
    static constexpr std::uint8_t block_run = 0xFF;    // at the ends of the run of a run block
    static_assert(bin_count <= free_run);
    static_assert([] {
        for (const bin_shape& each : bin_shapes) {
            if (each.blocks >= 1024 || each.pages >= 64) return false;
        }
        return true;
    }());

    void set_run(std::uint8_t kind, std::size_t length) noexcept {
        first_free_ = static_cast<std::uint16_t>(length);
        used_ = static_cast<std::uint16_t>(length >> 16);
        bin_ = kind;
        page_in_slab_ = 0;
    }

    std::uint16_t first_free_;        // slab: first_free() + 1; other run: low half of its length
    std::uint16_t used_;              // slab: carved blocks not in the list; other run: high half of its length
    std::uint16_t carved_ : 10;       // slab: carved()
    std::uint16_t slab_pages_ : 6;    // slab: length()
    std::uint8_t bin_;                // of the slab, or one of the two above
    std::uint8_t page_in_slab_;       // slab: page_in_slab(); free run: 1 if was_discarded()
};
static_assert(sizeof(page_state) == 8);
static_assert(max_populated_bytes == max_pooled_bytes);    // monotonic resources know only the first

// Links of a slab or a free run in a page_list, in the entry of its first page.
class page_links {
public:
    [[nodiscard]] HEADROOM_ALWAYS_INLINE page_links* next_link() const noexcept { return next_; }
    // Returns the address of the slab's first block, or of the free run.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::byte* start() const noexcept { return start_; }

private:
    friend class page_list;
    friend class segment;
    page_links* previous_;    // of the first: the last
    page_links* next_;        // of the last: null
    std::byte* start_;
};

// List of slabs or free runs.
class page_list {
public:
    [[nodiscard]] HEADROOM_ALWAYS_INLINE page_links* front() const noexcept { return first_; }
    void push_front(page_links& added) noexcept {
        added.next_ = first_;
        added.previous_ = first_ != nullptr ? std::exchange(first_->previous_, &added) : &added;
        first_ = &added;
    }
    void push_back(page_links& added) noexcept {
        page_links* const last = first_ != nullptr ? first_->previous_ : nullptr;
        (last != nullptr ? last->next_ : first_) = &added;
        added.next_ = nullptr;
        added.previous_ = last != nullptr ? last : &added;
        first_->previous_ = &added;
    }
    void remove(const page_links& gone) noexcept {
        (first_ == &gone ? first_ : gone.previous_->next_) = gone.next_;
        if (page_links* const behind = gone.next_ != nullptr ? gone.next_ : first_) behind->previous_ = gone.previous_;
    }

private:
    page_links* first_ = nullptr;
};

// A reservation, or a piece from upstream, split into pages.
class segment {
public:
    // Makes a segment with the tables of its pages. `memory` is at a multiple of pool_page_bytes. Throws what upstream throws.
    static segment* make(const memory_piece& memory, std::pmr::memory_resource* upstream) {
        const std::size_t pages = (memory.control != nullptr ? memory.reserved : memory.bytes) / pool_page_bytes;
        return new (detail::allocate_upstream(upstream, bytes_with_tables(pages), alignof(segment))) segment(memory, pages);
    }
    // Returns the memory and the segment itself to where they are from.
    void release(std::pmr::memory_resource* upstream) noexcept {
        const memory_piece memory = memory_;
        upstream->deallocate(this, bytes_with_tables(pages_), alignof(segment));
        memory.release(upstream);
    }
    segment(const segment&) = delete;
    segment& operator=(const segment&) = delete;

    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::byte* data() const noexcept { return memory_.data; }
    [[nodiscard]] const memory_piece& memory() const noexcept { return memory_; }
    [[nodiscard]] memory_piece& memory() noexcept { return memory_; }    // to commit or decommit a part
    // Returns the largest number of pages; high_water(): of those that were ever used. Other pages have no state.
    [[nodiscard]] std::size_t pages() const noexcept { return pages_; }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t high_water() const noexcept { return high_water_; }
    void set_high_water(std::size_t pages) noexcept { high_water_ = pages; }

    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::byte* place(std::size_t index) const noexcept {
        return memory_.data + index * pool_page_bytes;
    }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t index_of(const void* place) const noexcept {
        return (detail::address_of(place) - detail::address_of(memory_.data)) / pool_page_bytes;
    }
    [[nodiscard]] std::size_t index_of(const page_links& one) const noexcept { return static_cast<std::size_t>(&one - links_); }
    // True if the address is in a page that was ever used.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE bool holds(const void* place) const noexcept {
        return detail::address_of(place) - detail::address_of(memory_.data) < high_water_ * pool_page_bytes;
    }
    // True if no page is in use.
    [[nodiscard]] bool is_empty() const noexcept {
        return high_water_ == 0 || (states_->is_free() && states_->length() == high_water_);
    }

    [[nodiscard]] HEADROOM_ALWAYS_INLINE const page_state& state(std::size_t index) const noexcept { return states_[index]; }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE page_state& state(std::size_t index) noexcept { return states_[index]; }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE page_links& links(std::size_t index) noexcept { return links_[index]; }

    // Sets the state of the run of `count` pages from page `at` on. The free run was not discarded. The links are not in a list yet.
    void set_free_run(std::size_t at, std::size_t count) noexcept {
        set_run(at, count, page_state::free_run);
        links_[at].start_ = place(at);
    }
    void set_block_run(std::size_t at, std::size_t count) noexcept { set_run(at, count, page_state::block_run); }
    // The slab has no blocks yet; the first will be at `start`.
    void set_slab(std::size_t at, std::size_t count, bin_index bin, std::byte* start) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            states_[at + i].bin_ = static_cast<std::uint8_t>(bin);
            states_[at + i].page_in_slab_ = static_cast<std::uint8_t>(i);
        }
        states_[at].first_free_ = states_[at].used_ = states_[at].carved_ = 0;
        states_[at].shorten(count);
        links_[at].start_ = start;
    }

    // Calls visit(index, pages, state) for each page run; state: the entry of its first page.
    template <class Visit>
    void for_each_run(Visit visit) const {
        for (std::size_t at = 0, count = 0; at < high_water_; at += count) {
            count = states_[at].length();
            visit(at, count, states_[at]);
        }
    }
    // Discards the memory of the free runs, as far as they are whole pages of the system. Returns the bytes of those not discarded before.
    std::size_t discard_free() noexcept {
        std::size_t result = 0;
        for_each_run([&](std::size_t at, std::size_t count, const page_state& found) noexcept {
            if (!found.is_free() || found.was_discarded()) return;
            std::byte* const first = detail::align_up(place(at), headroom::page_size());
            const std::byte* const last = place(at + count) - detail::address_of(place(at + count)) % headroom::page_size();
            if (last <= first) return;
            const auto bytes_of_run = static_cast<std::size_t>(last - first);
            detail::unpoison(first, bytes_of_run);
            if (!headroom::discard({first, bytes_of_run})) {
                result += bytes_of_run;
                states_[at].set_discarded(true);
            }
            detail::poison(first, bytes_of_run);
        });
        return result;
    }

private:
    segment(const memory_piece& memory, std::size_t pages) noexcept
        : memory_(memory), pages_(pages), links_(reinterpret_cast<page_links*>(this + 1)),
          states_(reinterpret_cast<page_state*>(links_ + pages)) {}

    static std::size_t bytes_with_tables(std::size_t pages) noexcept {
        return sizeof(segment) + pages * (sizeof(page_links) + sizeof(page_state));
    }
    void set_run(std::size_t at, std::size_t count, std::uint8_t kind) noexcept {
        states_[at].set_run(kind, count);
        states_[at + count - 1].set_run(kind, count);
    }

    memory_piece memory_;
    std::size_t pages_;
    std::size_t high_water_ = 0;
    page_links* links_;
    page_state* states_;
};

}}}}    // namespace headroom::detail
