// The pages of a multipool's large chunks: which of them are slabs, which are wide blocks, and the free ones, as runs. See slabs.hpp.
//
// A run is a number of pages side by side. Free runs that touch are one run; each is in the list of its length. Wide blocks and slabs
// are runs, too, cut from free ones of any length. So what one size has given up serves every other.
//
// What is known of a page stands in arrays beside its area, not in the page. A run's length stands at its first and at its last page,
// so that its neighbours find it when they become free.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/chunks.hpp>
#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// What giving back a block of a slab needs. Of each page it stands in an array of its own: where blocks come back in no order it is
// looked up at each, and so it should fit into the processor's nearest cache.
struct page_counts {
    static constexpr std::uint8_t free_run = 0xFE;    // at the ends of a free run
    static constexpr std::uint8_t used_run = 0xFF;    // at the ends of a wide block's

    std::uint16_t freed;    // of a slab: the first free block, its distance from the first page in bytes, plus 1; 0: none
    std::uint16_t used;     // how many of those that were cut are not in its list
    std::uint16_t cut;      // how many blocks were cut from the slab
    std::uint8_t bin;       // whose blocks, or one of the two above
    std::uint8_t back;      // of a slab: pages from its first one, at which the others stand

    // Of a run, in pages.
    [[nodiscard]] std::size_t length() const noexcept { return freed | std::size_t{used} << 16; }
    void set_run(std::uint8_t kind, std::size_t length) noexcept {
        freed = static_cast<std::uint16_t>(length);
        used = static_cast<std::uint16_t>(length >> 16);
        bin = kind;
        back = 0;
    }
};
static_assert(sizeof(page_counts) == 8);

// At the first page of a slab or of a free run.
struct page_links {
    page_links* previous;    // slabs: those of the size that have free blocks; free runs: those of like length
    page_links* next;
    std::byte* start;    // of the first block, or of the run
};

// A stretch of memory that is used page by page: a reservation, or a chunk of upstream's.
struct area {
    std::byte* base;         // at a multiple of pool_page
    std::size_t pages;       // that it may ever have
    std::size_t frontier;    // pages that were used since it was entered; what the arrays say of others means nothing
    std::size_t touched;     // pages that were used before all started over
    const void* chunk;       // that it lies in
    bool reserved;           // that is a reservation
    page_links* links;
    page_counts* counts;
    std::size_t bytes;    // of this and the two arrays: one piece from upstream

    [[nodiscard]] std::byte* place(std::size_t index) const noexcept { return base + index * pool_page; }
    [[nodiscard]] std::size_t index_of(const void* place) const noexcept {
        return (detail::address_of(place) - detail::address_of(base)) / pool_page;
    }
    [[nodiscard]] std::size_t index_of(const page_links& one) const noexcept { return static_cast<std::size_t>(&one - links); }
    [[nodiscard]] std::byte* fill() const noexcept { return place(frontier); }
    [[nodiscard]] bool holds(const void* place) const noexcept {
        return detail::address_of(place) - detail::address_of(base) < frontier * pool_page;
    }
    [[nodiscard]] bool is_empty() const noexcept {
        return frontier > 0 && counts[0].bin == page_counts::free_run && counts[0].length() == frontier;
    }

    // Calls visit(index, pages) for each free run, and slab(counts) for each slab.
    template <class Free, class Slab>
    void each(Free free, Slab slab) const {
        for (std::size_t at = 0; at < frontier;) {
            const page_counts& found = counts[at];
            const bool is_run = found.bin >= page_counts::free_run;
            const std::size_t count = is_run ? found.length() : detail::slab_pages(found.bin);
            if (found.bin == page_counts::free_run) free(at, count);
            if (!is_run) slab(at);
            at += count;
        }
    }

    // Gives the memory of free runs back to the system; returns how many bytes.
    std::size_t discard_free() noexcept {
        std::size_t result = 0;
        const auto give_back = [&](std::size_t at, std::size_t count) noexcept {
            // Whole pages of the system's.
            std::byte* const first = detail::align_up(place(at), headroom::page_size());
            const std::byte* const last = place(at + count) - detail::address_of(place(at + count)) % headroom::page_size();
            if (last <= first) return;
            const auto bytes_of_run = static_cast<std::size_t>(last - first);
            detail::unpoison(first, bytes_of_run);
            if (!headroom::discard({first, bytes_of_run})) result += bytes_of_run;
            detail::poison(first, bytes_of_run);
        };
        each(give_back, [](std::size_t) noexcept {});
        if (touched > frontier) give_back(frontier, touched - frontier);
        touched = 0;
        return result;
    }
};

class page_runs {
public:
    explicit page_runs(std::pmr::memory_resource* upstream) noexcept : upstream_(upstream) {}
    page_runs(const page_runs&) = delete;
    page_runs& operator=(const page_runs&) = delete;
    ~page_runs() {
        for (area* const each : *this) forget(each);
        if (areas_ != nullptr) upstream_->deallocate(areas_, capacity_ * sizeof(area*), alignof(area*));
    }

    // Where pages lie; null and 0: none.
    struct run {
        area* of = nullptr;
        std::size_t index = 0;
        explicit operator bool() const noexcept { return of != nullptr; }
        [[nodiscard]] std::byte* place() const noexcept { return of->place(index); }
    };

    [[nodiscard]] area* const* begin() const noexcept { return areas_; }
    [[nodiscard]] area* const* end() const noexcept { return areas_ + count_; }
    // How many pages were ever used, and how many of those are free now.
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t free() const noexcept { return free_; }
    // The area that pages are taken from which were never used; null: none.
    [[nodiscard]] area* active() const noexcept { return active_; }

    // Nothing is used any more.
    void start_over() noexcept {
        for (area* const each : *this) {
            each->touched = (std::max)(each->touched, each->frontier);
            each->frontier = 0;
        }
        lists_ = {};
        listed_ = used_ = free_ = fresh_ = 0;
        active_ = nullptr;
    }

    // Makes [first, last) of a chunk, where nothing is used, the active area. Throws what upstream throws; there is none then.
    void enter(const void* chunk, bool reserved, std::byte* first, std::byte* last) {
        active_ = nullptr;
        // (One that begins elsewhere was made when there was no memory for this one.)
        if (const area* const other = in_chunk(chunk); other != nullptr && other->base != first) {
            remove_if([&](const area& each) noexcept { return &each == other; });
        }
        area** const at = from(detail::address_of(first));
        area* const entered = at != end() && (*at)->base == first ? *at : add(chunk, first, last);
        entered->reserved = reserved;
        latest_ = active_ = entered;
    }
    // The chunk's area, if pages of it were used, is the active one again: they go on where they ended.
    void resume(const void* chunk) noexcept {
        if (area* const found = in_chunk(chunk); found != nullptr && found->frontier != 0) active_ = found;
    }
    [[nodiscard]] bool is_active_empty() const noexcept { return active_->frontier == 0 || active_->is_empty(); }
    // No more pages are taken from the active area. What is left of it, up to `last`, is free.
    void leave(const std::byte* last) noexcept {
        if (active_ == nullptr) return;
        const std::size_t rest =
            (std::min)(static_cast<std::size_t>(last - active_->fill()) / pool_page, active_->pages - active_->frontier);
        if (rest > 0) {
            const std::size_t first = active_->frontier;
            advance(rest);
            give_back({active_, first}, rest);
        }
        active_ = nullptr;
    }

    // The area that a place lies in; null: none. O(log areas), O(1) for one in the area that was found last.
    [[nodiscard]] area* find(const void* place) noexcept {
        if (HEADROOM_UNLIKELY(latest_ == nullptr || !latest_->holds(place))) return find_among_all(place);
        return latest_;
    }

    // So many pages, from the shortest free run that is long enough; none: there is none. O(1).
    [[nodiscard]] run take(std::size_t count) noexcept {
        std::size_t list = list_of(count);
        if (count > exact_lengths) {
            // Those of this list may be shorter, too.
            int looks = 16;
            for (page_links* each = lists_[list]; each != nullptr && looks > 0; each = each->next, --looks) {
                const run found = run_of(*each);
                if (found.of->counts[found.index].length() >= count) return cut(found, count);
            }
            ++list;
        }
        const std::uint64_t longer = listed_ >> list;
        if (longer == 0) return {};
        return cut(run_of(*lists_[list + static_cast<std::size_t>(std::countr_zero(longer))]), count);
    }
    // So many pages at the end of the active area, the free ones there first. Precondition: there is memory.
    [[nodiscard]] run extend(std::size_t count) noexcept {
        const std::size_t before = free_at_end();
        const std::size_t first = active_->frontier - before;
        if (before >= count) return cut({active_, first}, count);    // take() may have missed it among many
        if (before != 0) unlist({active_, first}, before);
        advance(count - before);
        fresh_ += count - before;
        return {active_, first};
    }
    // How many pages at the end of the active area are free.
    [[nodiscard]] std::size_t free_at_end() const noexcept {
        if (active_->frontier == 0) return 0;
        const page_counts& last = active_->counts[active_->frontier - 1];
        return last.bin == page_counts::free_run ? last.length() : 0;
    }
    // Whether it is worth while to look for free pages: since the last call that said so enough were used for the first time, or
    // came back (`back` says how many of those are not free yet).
    [[nodiscard]] bool may_collect(std::size_t back) noexcept {
        if (fresh_ + back < 16 + used_ / 16) return false;
        fresh_ = 0;
        return true;
    }

    // They are in use, as one run.
    static void mark_used(const run& taken, std::size_t count) noexcept {
        taken.of->counts[taken.index].set_run(page_counts::used_run, count);
        taken.of->counts[taken.index + count - 1].set_run(page_counts::used_run, count);
    }
    // They are free, with those beside them.
    void give_back(run gone, std::size_t count) noexcept {
        const page_counts* const counts = gone.of->counts;
        if (gone.index > 0 && counts[gone.index - 1].bin == page_counts::free_run) {
            const std::size_t before = counts[gone.index - 1].length();
            gone.index -= before;
            count += before;
            unlist(gone, before);
        }
        if (const std::size_t end = gone.index + count; end < gone.of->frontier && counts[end].bin == page_counts::free_run) {
            const std::size_t after = counts[end].length();
            unlist({gone.of, end}, after);
            count += after;
        }
        enlist(gone, count);
    }

    // Gives back what is free: of reservations to the system, which keeps the addresses; of upstream's chunks those in which nothing
    // is used, and nothing else lies: `give_back(which)` gives back each chunk of which `which(chunk, ahead)` says so; `ahead`: it is
    // yet to be used again. Returns how many bytes. O(pages), and `which` is O(log chunks).
    template <class GiveBack>
    std::size_t trim(GiveBack give_back) noexcept {
        std::size_t result = 0;
        give_back([&](const void* chunk, bool ahead) noexcept {
            area* const in_it = in_chunk(chunk);
            if (in_it == nullptr || in_it->reserved || in_it == active_) return false;
            if (!in_it->is_empty() && !(ahead && in_it->frontier == 0)) return false;
            result += in_it->pages * pool_page;
            in_it->chunk = nullptr;
            return true;
        });
        remove_if([](const area& each) noexcept { return each.chunk == nullptr; });
        for (area* const each : *this) {
            if (each->reserved) result += each->discard_free();
        }
        return result;
    }

private:
    // Runs of up to so many pages are in lists of their own lengths; longer ones in a list for each doubling.
    static constexpr std::size_t exact_lengths = 16;
    static constexpr std::size_t list_count = 48;

    static std::size_t list_of(std::size_t count) noexcept {
        return count <= exact_lengths ? count - 1 : static_cast<unsigned>(std::bit_width(count - 1)) + 11;
    }

    run run_of(const page_links& first) noexcept {
        area* const of = find(first.start);
        return {of, of->index_of(first)};
    }
    // The first pages of a free run; the others stay free.
    run cut(const run& from, std::size_t count) noexcept {
        const std::size_t length = from.of->counts[from.index].length();
        unlist(from, length);
        if (length > count) enlist({from.of, from.index + count}, length - count);
        return from;
    }
    void enlist(const run& added, std::size_t count) noexcept {
        area& of = *added.of;
        of.counts[added.index].set_run(page_counts::free_run, count);
        of.counts[added.index + count - 1].set_run(page_counts::free_run, count);
        const std::size_t list = list_of(count);
        page_links& links = of.links[added.index];
        links = {nullptr, lists_[list], of.place(added.index)};
        if (links.next != nullptr) links.next->previous = &links;
        lists_[list] = &links;
        listed_ |= std::uint64_t{1} << list;
        free_ += count;
    }
    void unlist(const run& gone, std::size_t count) noexcept {
        const std::size_t list = list_of(count);
        const page_links& links = gone.of->links[gone.index];
        if (links.next != nullptr) links.next->previous = links.previous;
        if (links.previous != nullptr) {
            links.previous->next = links.next;
        } else if ((lists_[list] = links.next) == nullptr) {
            listed_ &= ~(std::uint64_t{1} << list);
        }
        free_ -= count;
    }

    void advance(std::size_t count) noexcept {
        active_->frontier += count;
        used_ += count;
    }

    // The first area that begins at that address or behind it.
    [[nodiscard]] area** from(std::uintptr_t address) const noexcept {
        return std::lower_bound(areas_, areas_ + count_, address,
                                [](const area* each, std::uintptr_t sought) { return detail::address_of(each->base) < sought; });
    }
    [[gnu::noinline]] area* find_among_all(const void* place) noexcept {
        // The last that begins at or before the place.
        area** const after = from(detail::address_of(place) + 1);
        if (after == areas_ || !(*(after - 1))->holds(place)) return nullptr;
        return latest_ = *(after - 1);
    }
    // The area in a chunk; null: it has none. O(log areas).
    [[nodiscard]] area* in_chunk(const void* chunk) const noexcept {
        // (What the chain knows of a chunk lies behind its area, or before it where it is a reservation.)
        area* const* const after = from(detail::address_of(chunk));
        if (after != end() && (*after)->chunk == chunk) return *after;
        return after != areas_ && (*(after - 1))->chunk == chunk ? *(after - 1) : nullptr;
    }

    // Forgets the areas of which `gone` says so, with the free runs in them.
    template <class Gone>
    void remove_if(Gone gone) noexcept {
        std::size_t kept = 0;
        for (area* const each : *this) {
            if (!gone(*each)) {
                areas_[kept++] = each;
                continue;
            }
            each->each([&](std::size_t at, std::size_t count) noexcept { unlist({each, at}, count); },
                       [](std::size_t) noexcept {});
            used_ -= each->frontier;
            forget(each);
        }
        count_ = kept;
        latest_ = nullptr;
    }
    void forget(area* gone) noexcept { upstream_->deallocate(gone, gone->bytes, alignof(area)); }

    area* add(const void* chunk, std::byte* first, std::byte* last) {
        if (count_ == capacity_) {
            const std::size_t more = capacity_ == 0 ? 8 : capacity_ * 2;
            auto** const larger = static_cast<area**>(upstream_->allocate(more * sizeof(area*), alignof(area*)));
            if (areas_ != nullptr) {
                std::copy(areas_, areas_ + count_, larger);
                upstream_->deallocate(areas_, capacity_ * sizeof(area*), alignof(area*));
            }
            areas_ = larger;
            capacity_ = more;
        }
        const std::size_t pages = static_cast<std::size_t>(last - first) / pool_page;
        const std::size_t bytes = sizeof(area) + pages * (sizeof(page_links) + sizeof(page_counts));
        auto* const made = new (upstream_->allocate(bytes, alignof(area))) area{};
        made->base = first;
        made->pages = pages;
        made->chunk = chunk;
        made->bytes = bytes;
        made->links = reinterpret_cast<page_links*>(made + 1);
        made->counts = reinterpret_cast<page_counts*>(made->links + pages);
        area** const at = from(detail::address_of(first));
        std::copy_backward(at, areas_ + count_, areas_ + count_ + 1);
        *at = made;
        ++count_;
        return made;
    }

    std::pmr::memory_resource* upstream_;
    area** areas_ = nullptr;    // in order of addresses
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
    area* latest_ = nullptr;    // the one that a place was last found in
    area* active_ = nullptr;
    std::size_t used_ = 0;    // pages
    std::size_t free_ = 0;
    std::size_t fresh_ = 0;       // taken from the active area since free ones were last looked for
    std::uint64_t listed_ = 0;    // which lists are not empty
    std::array<page_links*, list_count> lists_{};
};

}}}    // namespace headroom::detail
