// SPDX-License-Identifier: MIT
// The page runs of a multipool beyond its first chunks: finds and joins free ones (slabs.hpp uses them).
//
// Each free run is in the list of its length, and adjacent ones are joined: the state of their pages (segment.hpp) leads from a run to its
// neighbours. Slabs and run blocks are taken from free runs of any length, so pages freed by one size serve every other.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <utility>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/pieces.hpp>
#include <headroom/detail/memory/poison.hpp>
#include <headroom/detail/memory/segment.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {
inline namespace HEADROOM_MEMORY_ABI {

class page_runs;
class slab_pool;

// Position of a page, mostly the first of a run; none if false.
class page_run {
public:
    page_run() noexcept = default;
    explicit operator bool() const noexcept { return of_ != nullptr; }
    bool operator==(const page_run&) const noexcept = default;
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t index() const noexcept { return index_; }
    [[nodiscard]] std::byte* place() const noexcept { return of_->place(index_); }

private:
    friend class page_runs;
    friend class slab_pool;
    HEADROOM_ALWAYS_INLINE page_run(segment& of, std::size_t index) noexcept : of_(&of), index_(index) {}
    // Returns the run that begins `pages` behind this one.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE page_run behind(std::size_t pages) const noexcept { return {*of_, index_ + pages}; }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE page_state& state() const noexcept { return of_->state(index_); }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE page_links& links() const noexcept { return of_->links(index_); }

    segment* of_ = nullptr;
    std::size_t index_ = 0;
};

class page_runs {
public:
    explicit page_runs(std::pmr::memory_resource* upstream) noexcept : upstream_(upstream) {}
    page_runs(const page_runs&) = delete;
    page_runs& operator=(const page_runs&) = delete;
    ~page_runs() {
        for (segment* const each : segments()) each->release(upstream_);
        if (segments_ != nullptr) upstream_->deallocate(segments_, capacity_ * sizeof(segment*), alignof(segment*));
    }

    // The segments, in order of addresses.
    [[nodiscard]] const segment* const* begin() const noexcept { return segments_; }
    [[nodiscard]] const segment* const* end() const noexcept { return segments_ + count_; }
    // Returns the number of pages ever used in the segments.
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    // Returns the number of pages in free runs.
    [[nodiscard]] std::size_t free() const noexcept { return free_; }
    // Returns the bytes of all segments, requested from upstream or committed. O(segments).
    [[nodiscard]] std::size_t total_bytes() const noexcept {
        std::size_t result = 0;
        for (const segment* const each : *this) result += each->memory().bytes;
        return result;
    }

    // Frees all pages that were ever used: they are one free run in each segment.
    void reset() noexcept {
        lists_ = {};
        nonempty_lists_ = free_ = used_since_flush_ = 0;
        for (segment* const each : segments()) {
            if (each->high_water() == 0) continue;
            detail::poison(each->data(), each->high_water() * pool_page_bytes);
            add_free_run({*each, 0}, each->high_water());
        }
    }

    // Makes the piece a segment, owned by this, and the one that take_unused() uses; frees the committed rest of the one before. Throws
    // what upstream throws; the piece is still the caller's then.
    void add(const memory_piece& memory) {
        segment* const added = add_to_segments(memory);
        if (active_ != nullptr) {
            const page_run rest{*active_, active_->high_water()};
            const std::size_t count = (std::min)(active_->memory().bytes / pool_page_bytes, active_->pages()) - rest.index_;
            raise_high_water(count);
            if (count != 0) free_run(rest, count);
        }
        last_found_ = active_ = added;
    }

    // Returns the page that has the address; none if it lies in no page ever used. O(log segments), O(1) for the segment found last.
    [[nodiscard]] page_run find(const void* place) noexcept {
        segment* const of = find_segment(place);
        return of != nullptr ? page_run{*of, of->index_of(place)} : page_run{};
    }

    // Returns the slab or free run that has these links.
    [[nodiscard]] page_run run_at(const page_links& links) noexcept {
        segment& of = *find_segment(links.start());
        return {of, of.index_of(links)};
    }

    // Removes `count` pages from a free run that is as short as possible, and returns them; the caller marks them as used. None if it finds
    // none: of several runs about as long, it looks at 16. O(1).
    [[nodiscard]] page_run take_free_run(std::size_t count) noexcept {
        if (count > free_) return {};    // then list_index_of() may be too large
        std::size_t list = list_index_of(count);
        if (count > exact_length_lists) {
            int looks = 16;
            for (page_links* each = lists_[list].front(); each != nullptr && looks > 0; each = each->next_link(), --looks) {
                const page_run found = run_at(*each);
                if (found.state().length() >= count) return split_free_run(found, count);
            }
            ++list;
        }
        const std::uint64_t longer = nonempty_lists_ >> list;
        if (longer == 0) return {};
        return split_free_run(run_at(*lists_[list + static_cast<std::size_t>(std::countr_zero(longer))].front()), count);
    }
    // Returns `count` pages at the end of the active segment: a free run there and unused pages. None if the segment is too small, or
    // provide(memory, bytes) is false: the first `bytes` cannot be committed.
    template <class Provide>
    [[nodiscard]] page_run take_unused(std::size_t count, Provide provide) noexcept {
        if (active_ == nullptr) return {};
        segment& of = *active_;
        const std::size_t before = free_pages_before(of, of.high_water());
        const page_run found{of, of.high_water() - before};
        if (before >= count) return split_free_run(found, count);    // take_free_run() looks at few runs of a list
        const std::size_t more = count - before;
        if (more > of.pages() - of.high_water() || !provide(of.memory(), (of.high_water() + more) * pool_page_bytes)) return {};
        if (before != 0) remove_free_run(found, before);
        raise_high_water(more);
        used_since_flush_ += more;
        return found;
    }
    // True if returning blocks to slabs may pay: enough pages were used for the first time, or freed, since the last call that returned
    // true; that call restarts the count. `pending`: freed pages that are not free runs yet.
    [[nodiscard]] bool start_flush_if_due(std::size_t pending) noexcept {
        if (used_since_flush_ + pending < 16 + used_ / 16) return false;
        used_since_flush_ = 0;
        return true;
    }

    // Makes `count` pages that were taken the run of a run block.
    static void mark_used(const page_run& taken, std::size_t count) noexcept { taken.of_->set_block_run(taken.index_, count); }
    // Frees `count` pages and joins them with adjacent free runs.
    void free_run(page_run gone, std::size_t count) noexcept {
        if (const std::size_t before = free_pages_before(*gone.of_, gone.index_); before != 0) {
            gone.index_ -= before;
            count += before;
            remove_free_run(gone, before);
        }
        if (const page_run next = gone.behind(count); next.index_ < next.of_->high_water() && next.state().is_free()) {
            const std::size_t after = next.state().length();
            remove_free_run(next, after);
            count += after;
        }
        add_free_run(gone, count);
    }

    // Returns the smallest of upstream's segments of at least `bytes` without a page in use, or null, and their number. O(segments).
    [[nodiscard]] std::pair<const segment*, std::size_t> smallest_empty(std::size_t bytes) const noexcept {
        const segment* found = nullptr;
        std::size_t count = 0;
        for (const segment* const each : *this) {
            const memory_piece& memory = each->memory();
            if (memory.control != nullptr || memory.bytes < bytes || !each->is_empty()) continue;
            if (found == nullptr || memory.bytes < found->memory().bytes) found = each;
            ++count;
        }
        return {found, count};
    }
    // Returns the segment to upstream. Precondition: none of its pages is in use. O(segments).
    void release_segment(const segment* gone) noexcept {
        segment** const at = lower_bound(detail::address_of(gone->data()));
        segment* const leaving = *at;
        move_entries(at, at + 1);
        --count_;
        last_found_ = nullptr;
        unlink_and_release(leaving);
    }

    // Discards free runs of reservations, and decommits the last run of the active one; returns segments without a page in use to upstream.
    // Returns the bytes that were discarded or returned. O(pages).
    std::size_t trim() noexcept {
        std::size_t result = 0;
        std::size_t kept = 0;
        for (segment* const each : segments()) {
            if (each->memory().control == nullptr && each->is_empty()) {
                result += each->pages() * pool_page_bytes;
                unlink_and_release(each);
            } else {
                if (each->memory().control != nullptr) {
                    // Otherwise the system would fill each huge page of which a part is in use, and what was discarded would come back.
                    detail::withdraw_huge_advice(each->memory().control);
                    result += each->discard_free();
                    if (each == active_) decommit_last_run(*each);
                }
                segments_[kept++] = each;
            }
        }
        count_ = kept;
        last_found_ = nullptr;
        // A segment that could not grow before may grow now.
        for (segment* const each : segments()) {
            if (active_ == nullptr && each->high_water() < each->pages()) active_ = each;
        }
        return result;
    }

private:
    // Free runs up to this length are in a list for each length; longer ones in a list for each doubling.
    static constexpr std::size_t exact_length_lists = 16;
    static constexpr std::size_t list_count = 48;

    // Returns the number of the list for free runs of `count` pages.
    HEADROOM_ALWAYS_INLINE static std::size_t list_index_of(std::size_t count) noexcept {
        return count <= exact_length_lists ? count - 1 : static_cast<unsigned>(std::bit_width(count - 1)) + 11;
    }
    struct segment_range {
        segment* const* first;
        segment* const* last;
        [[nodiscard]] segment* const* begin() const noexcept { return first; }
        [[nodiscard]] segment* const* end() const noexcept { return last; }
    };
    [[nodiscard]] segment_range segments() const noexcept { return {segments_, segments_ + count_}; }
    // Returns the length of the free run that ends before page `at`; 0 if there is none.
    HEADROOM_ALWAYS_INLINE static std::size_t free_pages_before(const segment& of, std::size_t at) noexcept {
        return at != 0 && of.state(at - 1).is_free() ? of.state(at - 1).length() : 0;
    }

    // Decommits the free run at the end of the segment's used pages, if there is one; its pages count as never used then.
    void decommit_last_run(segment& of) noexcept {
        const std::size_t count = free_pages_before(of, of.high_water());
        if (count == 0) return;
        const std::size_t kept = of.high_water() - count;
        remove_free_run({of, kept}, count);
        of.set_high_water(kept);
        used_ -= count;
        memory_piece& memory = of.memory();
        const std::size_t left = kept * pool_page_bytes;
        detail::unpoison(memory.data + left, memory.bytes - left);
        memory.bytes = detail::shrink(memory.control, left);
        detail::poison(memory.data + left, memory.bytes - left);
    }

    // Removes and returns the first `count` pages of a free run; the others stay free.
    page_run split_free_run(const page_run& from, std::size_t count) noexcept {
        const std::size_t length = from.state().length();
        const bool was_discarded = from.state().was_discarded();
        remove_free_run(from, length);
        if (length > count) {
            add_free_run(from.behind(count), length - count);
            from.behind(count).state().set_discarded(was_discarded);
        }
        return from;
    }
    // Makes `count` pages a free run, in the list of its length; remove_free_run() takes it out of that. Joins nothing.
    void add_free_run(const page_run& added, std::size_t count) noexcept {
        added.of_->set_free_run(added.index_, count);
        const std::size_t list = list_index_of(count);
        lists_[list].push_front(added.links());
        nonempty_lists_ |= std::uint64_t{1} << list;
        free_ += count;
    }
    void remove_free_run(const page_run& gone, std::size_t count) noexcept {
        const std::size_t list = list_index_of(count);
        lists_[list].remove(gone.links());
        if (lists_[list].front() == nullptr) nonempty_lists_ &= ~(std::uint64_t{1} << list);
        free_ -= count;
    }

    // Counts the next `count` pages of the active segment as used.
    void raise_high_water(std::size_t count) noexcept {
        active_->set_high_water(active_->high_water() + count);
        used_ += count;
    }

    // Returns the place in segments_ of the first segment at or behind the address.
    [[nodiscard]] segment** lower_bound(std::uintptr_t address) const noexcept {
        std::size_t first = 0;
        for (std::size_t count = count_; count != 0;) {
            const std::size_t half = count / 2;
            if (detail::address_of(segments_[first + half]->data()) < address) {
                first += half + 1;
                count -= half + 1;
            } else {
                count = half;
            }
        }
        return segments_ + first;
    }
    // Returns the segment that find() looks for.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE segment* find_segment(const void* place) noexcept {
        if (HEADROOM_UNLIKELY(last_found_ == nullptr || !last_found_->holds(place))) return find_slow(place);
        return last_found_;
    }
    // Slow path of find_segment(): binary search over all segments.
    HEADROOM_NOINLINE segment* find_slow(const void* place) noexcept {
        segment** const after = lower_bound(detail::address_of(place) + 1);
        if (after == segments_ || !(*(after - 1))->holds(place)) return nullptr;
        return last_found_ = *(after - 1);
    }
    // Moves the entries of segments_ from `from` on to `to`, which may overlap.
    void move_entries(segment** to, segment* const* from) noexcept {
        std::memmove(to, from, static_cast<std::size_t>(segments_ + count_ - from) * sizeof(segment*));
    }
    // Forgets the pages of a segment without a page in use, already removed from segments_, and returns it to upstream.
    void unlink_and_release(segment* gone) noexcept {
        if (gone->high_water() != 0) remove_free_run({*gone, 0}, gone->high_water());
        used_ -= gone->high_water();
        if (active_ == gone) active_ = nullptr;
        gone->release(upstream_);
    }

    // Adds and returns a segment. Throws what upstream throws.
    segment* add_to_segments(const memory_piece& memory) {
        if (count_ == capacity_) {
            const std::size_t more = capacity_ == 0 ? 8 : capacity_ * 2;
            auto** const larger =
                static_cast<segment**>(detail::allocate_upstream(upstream_, more * sizeof(segment*), alignof(segment*)));
            if (segments_ != nullptr) {
                std::memcpy(larger, segments_, count_ * sizeof(segment*));
                upstream_->deallocate(segments_, capacity_ * sizeof(segment*), alignof(segment*));
            }
            segments_ = larger;
            capacity_ = more;
        }
        segment* const made = segment::make(memory, upstream_);
        segment** const at = lower_bound(detail::address_of(memory.data));
        move_entries(at + 1, at);
        *at = made;
        ++count_;
        return made;
    }

    std::pmr::memory_resource* upstream_;
    segment** segments_ = nullptr;    // in order of addresses
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
    segment* last_found_ = nullptr;    // segment that find_segment() found last
    segment* active_ = nullptr;        // segment whose unused pages are taken next; null: none
    std::size_t used_ = 0;             // pages
    std::size_t free_ = 0;
    std::size_t used_since_flush_ = 0;    // pages taken unused since start_flush_if_due() was last true
    std::uint64_t nonempty_lists_ = 0;    // a bit for each list that is not empty
    std::array<page_list, list_count> lists_{};
};

}}}}    // namespace headroom::detail
