// The pages of a multipool beyond its first chunks: slabs, large blocks, and free runs (slabs.hpp uses them).
//
// A run is a number of adjacent pages. Adjacent free runs are joined; each free run is in the list of its length. Slabs and large blocks
// are runs carved from free ones of any length, so pages freed by one size serve every other.
//
// Arrays beside the segment have the state of its pages. A free run's length is in its first and its last entry, for its neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/chunks.hpp>
#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// State of a page needed to free a block of its slab. In an array of its own, to fit into the first-level cache.
struct page_counts {
    static constexpr std::uint8_t free_run = 0xFE;    // at the ends of a free run
    static constexpr std::uint8_t used_run = 0xFF;    // at the ends of the run of a large block

    std::uint16_t first_free;     // slab: offset of the first free block from the first page in bytes, plus 1; 0: none
    std::uint16_t used;           // carved blocks that are not in its list
    std::uint16_t carved : 10;    // blocks carved from the slab
    std::uint16_t pages : 6;      // of the slab
    std::uint8_t bin;             // bin of the slab, or one of the two above
    // Slab: pages from its first one, which has the other fields. Free run: 1 if its memory was returned to the system.
    std::uint8_t home_distance;

    // Returns the length of the run, in pages. Precondition: this is its first or last entry.
    [[nodiscard]] std::size_t length() const noexcept { return first_free | std::size_t{used} << 16; }
    void set_run(std::uint8_t kind, std::size_t length) noexcept {
        first_free = static_cast<std::uint16_t>(length);
        used = static_cast<std::uint16_t>(length >> 16);
        bin = kind;
        home_distance = 0;
    }
};
static_assert(sizeof(page_counts) == 8);
static_assert(max_populated_bytes == max_pooled_bytes);    // monotonic resources know only the first

// Links of a slab or a free run, in the entry of its first page.
struct page_links {
    page_links* previous;    // slabs: of its size with free blocks; free runs: of its list
    page_links* next;
    std::byte* start;    // of the first block, or of the run
};

// A stretch of memory split into pages: a reservation, or a piece from upstream.
struct segment {
    memory_piece memory{};         // at a multiple of pool_page_bytes
    std::size_t pages = 0;         // largest number of pages
    std::size_t high_water = 0;    // pages ever used; the arrays of others are not initialised
    page_links* links = nullptr;
    page_counts* counts = nullptr;
    std::size_t bytes = 0;    // size of this and the two arrays, allocated together

    [[nodiscard]] std::byte* place(std::size_t index) const noexcept { return memory.data + index * pool_page_bytes; }
    [[nodiscard]] std::size_t index_of(const void* place) const noexcept {
        return (detail::address_of(place) - detail::address_of(memory.data)) / pool_page_bytes;
    }
    [[nodiscard]] std::size_t index_of(const page_links& one) const noexcept { return static_cast<std::size_t>(&one - links); }
    // True if the address is in a page that was ever used.
    [[nodiscard]] bool holds(const void* place) const noexcept {
        return detail::address_of(place) - detail::address_of(memory.data) < high_water * pool_page_bytes;
    }
    // True if no page is in use.
    [[nodiscard]] bool is_empty() const noexcept {
        return high_water == 0 || (counts[0].bin == page_counts::free_run && counts[0].length() == high_water);
    }

    // Calls visit(index, pages, counts) for each page run; counts: the entry of its first page.
    template <class Visit>
    void for_each_run(Visit visit) const {
        for (std::size_t at = 0; at < high_water;) {
            const page_counts& found = counts[at];
            const std::size_t count = found.bin >= page_counts::free_run ? found.length() : std::size_t{found.pages};
            visit(at, count, found);
            at += count;
        }
    }

    // Discards the memory of the free runs, as far as they are whole pages of the system. Returns the bytes of those not discarded before.
    std::size_t discard_free() noexcept {
        std::size_t result = 0;
        for_each_run([&](std::size_t at, std::size_t count, const page_counts& found) noexcept {
            if (found.bin != page_counts::free_run || found.home_distance != 0) return;
            std::byte* const first = detail::align_up(place(at), headroom::page_size());
            const std::byte* const last = place(at + count) - detail::address_of(place(at + count)) % headroom::page_size();
            if (last <= first) return;
            const auto bytes_of_run = static_cast<std::size_t>(last - first);
            detail::unpoison(first, bytes_of_run);
            if (!headroom::discard({first, bytes_of_run})) {
                result += bytes_of_run;
                counts[at].home_distance = 1;
            }
            detail::poison(first, bytes_of_run);
        });
        return result;
    }
};

class page_runs {
public:
    explicit page_runs(std::pmr::memory_resource* upstream) noexcept : upstream_(upstream) {}
    page_runs(const page_runs&) = delete;
    page_runs& operator=(const page_runs&) = delete;
    ~page_runs() {
        for (segment* const each : *this) release_segment(each);
        if (segments_ != nullptr) upstream_->deallocate(segments_, capacity_ * sizeof(segment*), alignof(segment*));
    }

    // Position of a run's first page; `of` is null if there is none.
    struct run {
        segment* of = nullptr;
        std::size_t index = 0;
        explicit operator bool() const noexcept { return of != nullptr; }
        bool operator==(const run&) const noexcept = default;
        [[nodiscard]] std::byte* place() const noexcept { return of->place(index); }
    };

    [[nodiscard]] segment* const* begin() const noexcept { return segments_; }
    [[nodiscard]] segment* const* end() const noexcept { return segments_ + count_; }
    // Returns the number of pages ever used in the segments; free(): of those that are in free runs now.
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t free() const noexcept { return free_; }
    // Returns the bytes of all segments, requested from upstream or committed. O(segments).
    [[nodiscard]] std::size_t total_bytes() const noexcept {
        std::size_t result = 0;
        for (const segment* const each : *this) result += each->memory.bytes;
        return result;
    }

    // Frees all pages that were ever used: they are one free run in each segment.
    void reset() noexcept {
        lists_ = {};
        nonempty_lists_ = free_ = used_since_flush_ = 0;
        for (segment* const each : *this) {
            if (each->high_water == 0) continue;
            detail::poison(each->memory.data, each->high_water * pool_page_bytes);
            add_free_run({each, 0}, each->high_water);
        }
    }

    // Makes the piece a segment, owned by this, and the one that take_unused() uses; frees the committed rest of the one before. Throws
    // what upstream throws; the piece is still the caller's then.
    void add(const memory_piece& memory) {
        const std::size_t pages = (memory.control != nullptr ? memory.reserved : memory.bytes) / pool_page_bytes;
        segment* const added = add_to_segments(memory, pages);
        if (active_ != nullptr) {
            const std::size_t first = active_->high_water;
            const std::size_t rest = (std::min)(active_->memory.bytes / pool_page_bytes, active_->pages) - first;
            raise_high_water(rest);
            if (rest != 0) free_run({active_, first}, rest);
        }
        last_found_ = active_ = added;
    }

    // Returns the segment that holds the address, in a page ever used; null if none. O(log segments), O(1) for the segment found last.
    [[nodiscard]] segment* find(const void* place) noexcept {
        if (HEADROOM_UNLIKELY(last_found_ == nullptr || !last_found_->holds(place))) return find_slow(place);
        return last_found_;
    }

    // Removes `count` pages from a free run that is as short as possible, and returns them; the caller marks them as used. None if it finds
    // none: of several runs about as long, it looks at 16. O(1).
    [[nodiscard]] run take_free_run(std::size_t count) noexcept {
        if (count > free_) return {};    // longer than any list's runs, perhaps
        std::size_t list = list_index_of(count);
        if (count > exact_length_lists) {
            int looks = 16;
            for (page_links* each = lists_[list]; each != nullptr && looks > 0; each = each->next, --looks) {
                const run found = run_at(*each);
                if (found.of->counts[found.index].length() >= count) return split_free_run(found, count);
            }
            ++list;
        }
        const std::uint64_t longer = nonempty_lists_ >> list;
        if (longer == 0) return {};
        return split_free_run(run_at(*lists_[list + static_cast<std::size_t>(std::countr_zero(longer))]), count);
    }
    // Returns `count` pages at the end of the active segment: a free run there and unused pages. None if the segment is too small, or
    // provide(memory, bytes) is false: the first `bytes` cannot be committed.
    template <class Provide>
    [[nodiscard]] run take_unused(std::size_t count, Provide provide) noexcept {
        if (active_ == nullptr) return {};
        segment& of = *active_;
        const page_counts* const last = of.high_water == 0 ? nullptr : &of.counts[of.high_water - 1];
        const std::size_t before = last != nullptr && last->bin == page_counts::free_run ? last->length() : 0;
        const std::size_t first = of.high_water - before;
        if (before >= count) return split_free_run({&of, first}, count);    // take_free_run() looks at few runs of a list
        const std::size_t more = count - before;
        if (more > of.pages - of.high_water || !provide(of.memory, (of.high_water + more) * pool_page_bytes)) return {};
        if (before != 0) remove_free_run({&of, first}, before);
        raise_high_water(more);
        used_since_flush_ += more;
        return {&of, first};
    }
    // True if returning blocks to slabs may pay: enough pages were used for the first time, or freed, since the last call that returned
    // true; that call restarts the count. `pending`: freed pages that are not free runs yet.
    [[nodiscard]] bool start_flush_if_due(std::size_t pending) noexcept {
        if (used_since_flush_ + pending < 16 + used_ / 16) return false;
        used_since_flush_ = 0;
        return true;
    }

    // Marks `count` pages as in use by one large block.
    static void mark_used(const run& taken, std::size_t count) noexcept {
        taken.of->counts[taken.index].set_run(page_counts::used_run, count);
        taken.of->counts[taken.index + count - 1].set_run(page_counts::used_run, count);
    }
    // Frees `count` pages and joins them with adjacent free runs.
    void free_run(run gone, std::size_t count) noexcept {
        const page_counts* const counts = gone.of->counts;
        if (gone.index > 0 && counts[gone.index - 1].bin == page_counts::free_run) {
            const std::size_t before = counts[gone.index - 1].length();
            gone.index -= before;
            count += before;
            remove_free_run(gone, before);
        }
        if (const std::size_t end = gone.index + count; end < gone.of->high_water && counts[end].bin == page_counts::free_run) {
            const std::size_t after = counts[end].length();
            remove_free_run({gone.of, end}, after);
            count += after;
        }
        add_free_run(gone, count);
    }

    // Returns the smallest of upstream's segments of at least `bytes` without a page in use, or null, and their number. O(segments).
    [[nodiscard]] std::pair<const segment*, std::size_t> smallest_empty(std::size_t bytes) const noexcept {
        const segment* found = nullptr;
        std::size_t count = 0;
        for (const segment* const each : *this) {
            if (each->memory.control != nullptr || each->memory.bytes < bytes || !each->is_empty()) continue;
            if (found == nullptr || each->memory.bytes < found->memory.bytes) found = each;
            ++count;
        }
        return {found, count};
    }
    // Returns a segment without a page in use to upstream. O(segments).
    void release_empty(const segment* gone) noexcept {
        segment** const at = std::find(segments_, segments_ + count_, gone);
        segment* const leaving = *at;
        std::copy(at + 1, segments_ + count_, at);
        --count_;
        last_found_ = nullptr;
        unlink_and_release(leaving);
    }

    // Discards free runs of reservations, and decommits the last run of the active one; returns segments without a page in use to upstream.
    // Returns the bytes that were discarded or returned. O(pages).
    std::size_t trim() noexcept {
        std::size_t result = 0;
        std::size_t kept = 0;
        for (segment* const each : *this) {
            if (each->memory.control == nullptr && each->is_empty()) {
                result += each->pages * pool_page_bytes;
                unlink_and_release(each);
            } else {
                if (each->memory.control != nullptr) {
                    // Otherwise the system would fill each huge page of which a part is in use, and what was discarded would come back.
                    detail::withdraw_huge_advice(each->memory.control);
                    result += each->discard_free();
                    if (each == active_) decommit_last_run(*each);
                }
                segments_[kept++] = each;
            }
        }
        count_ = kept;
        last_found_ = nullptr;
        // A segment that could not grow before may grow now.
        for (segment* const each : *this) {
            if (active_ == nullptr && each->high_water < each->pages) active_ = each;
        }
        return result;
    }

private:
    // Free runs up to this length are in a list for each length; longer ones in a list for each doubling.
    static constexpr std::size_t exact_length_lists = 16;
    static constexpr std::size_t list_count = 48;

    // Returns the number of the list for free runs of `count` pages.
    static std::size_t list_index_of(std::size_t count) noexcept {
        return count <= exact_length_lists ? count - 1 : static_cast<unsigned>(std::bit_width(count - 1)) + 11;
    }

    // Decommits the pages past the last one in use, which counts as never used then.
    void decommit_last_run(segment& of) noexcept {
        if (of.high_water == 0 || of.counts[of.high_water - 1].bin != page_counts::free_run) return;
        const std::size_t count = of.counts[of.high_water - 1].length();
        remove_free_run({&of, of.high_water - count}, count);
        of.high_water -= count;
        used_ -= count;
        const std::size_t left = of.high_water * pool_page_bytes;
        detail::unpoison(of.memory.data + left, of.memory.bytes - left);
        of.memory.bytes = detail::shrink(of.memory.control, left);
        detail::poison(of.memory.data + left, of.memory.bytes - left);
    }

    run run_at(const page_links& first) noexcept {
        segment* const of = find(first.start);
        return {of, of->index_of(first)};
    }
    // Removes and returns the first `count` pages of a free run; the others stay free.
    run split_free_run(const run& from, std::size_t count) noexcept {
        page_counts* const counts = from.of->counts + from.index;
        const std::size_t length = counts->length();
        const std::uint8_t was_discarded = std::exchange(counts->home_distance, std::uint8_t{0});
        remove_free_run(from, length);
        if (length > count) {
            add_free_run({from.of, from.index + count}, length - count);
            counts[count].home_distance = was_discarded;
        }
        return from;
    }
    // Add a run of `count` pages to the list of its length, and remove it. Joins nothing.
    void add_free_run(const run& added, std::size_t count) noexcept {
        segment& of = *added.of;
        of.counts[added.index].set_run(page_counts::free_run, count);
        of.counts[added.index + count - 1].set_run(page_counts::free_run, count);
        const std::size_t list = list_index_of(count);
        page_links& links = of.links[added.index];
        links = {nullptr, lists_[list], of.place(added.index)};
        if (links.next != nullptr) links.next->previous = &links;
        lists_[list] = &links;
        nonempty_lists_ |= std::uint64_t{1} << list;
        free_ += count;
    }
    void remove_free_run(const run& gone, std::size_t count) noexcept {
        const std::size_t list = list_index_of(count);
        const page_links& links = gone.of->links[gone.index];
        if (links.next != nullptr) links.next->previous = links.previous;
        if (links.previous != nullptr) {
            links.previous->next = links.next;
        } else if ((lists_[list] = links.next) == nullptr) {
            nonempty_lists_ &= ~(std::uint64_t{1} << list);
        }
        free_ -= count;
    }

    // Counts the next `count` pages of the active segment as used.
    void raise_high_water(std::size_t count) noexcept {
        active_->high_water += count;
        used_ += count;
    }

    // Returns the place in segments_ of the first segment at or behind the address.
    [[nodiscard]] segment** lower_bound(std::uintptr_t address) const noexcept {
        return std::lower_bound(segments_, segments_ + count_, address, [](const segment* each, std::uintptr_t sought) {
            return detail::address_of(each->memory.data) < sought;
        });
    }
    // Slow path of find(): binary search over all segments.
    HEADROOM_NOINLINE segment* find_slow(const void* place) noexcept {
        segment** const after = lower_bound(detail::address_of(place) + 1);
        if (after == segments_ || !(*(after - 1))->holds(place)) return nullptr;
        return last_found_ = *(after - 1);
    }
    // Forgets the pages of a segment without a page in use, already removed from segments_, and returns it to upstream.
    void unlink_and_release(segment* gone) noexcept {
        if (gone->high_water != 0) remove_free_run({gone, 0}, gone->high_water);
        used_ -= gone->high_water;
        if (active_ == gone) active_ = nullptr;
        release_segment(gone);
    }
    // Returns the memory of a segment, and of its arrays, to where it is from.
    void release_segment(segment* gone) noexcept {
        const memory_piece memory = gone->memory;
        upstream_->deallocate(gone, gone->bytes, alignof(segment));
        memory.release(upstream_);
    }

    // Adds and returns a segment of up to `pages` pages. Throws what upstream throws.
    segment* add_to_segments(const memory_piece& memory, std::size_t pages) {
        if (count_ == capacity_) {
            const std::size_t more = capacity_ == 0 ? 8 : capacity_ * 2;
            auto** const larger = static_cast<segment**>(upstream_->allocate(more * sizeof(segment*), alignof(segment*)));
            if (segments_ != nullptr) {
                std::copy(segments_, segments_ + count_, larger);
                upstream_->deallocate(segments_, capacity_ * sizeof(segment*), alignof(segment*));
            }
            segments_ = larger;
            capacity_ = more;
        }
        const std::size_t bytes = sizeof(segment) + pages * (sizeof(page_links) + sizeof(page_counts));
        auto* const made = new (upstream_->allocate(bytes, alignof(segment))) segment{};
        made->memory = memory;
        made->pages = pages;
        made->bytes = bytes;
        made->links = reinterpret_cast<page_links*>(made + 1);
        made->counts = reinterpret_cast<page_counts*>(made->links + pages);
        segment** const at = lower_bound(detail::address_of(memory.data));
        std::copy_backward(at, segments_ + count_, segments_ + count_ + 1);
        *at = made;
        ++count_;
        return made;
    }

    std::pmr::memory_resource* upstream_;
    segment** segments_ = nullptr;    // in order of addresses
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
    segment* last_found_ = nullptr;    // segment that find() found last
    segment* active_ = nullptr;        // segment whose unused pages are taken next; null: none
    std::size_t used_ = 0;             // pages
    std::size_t free_ = 0;
    std::size_t used_since_flush_ = 0;    // pages taken unused since start_flush_if_due() was last true
    std::uint64_t nonempty_lists_ = 0;    // a bit for each list that is not empty
    std::array<page_links*, list_count> lists_{};
};

}}}    // namespace headroom::detail
