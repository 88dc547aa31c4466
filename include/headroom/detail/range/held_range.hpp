// Calls of containers on the range that they hold. reservation.hpp has the same calls with an owner.
#pragma once

#include <cstddef>

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Why the system refused: value and category of a std::error_code, without its header, which takes as long to compile as <vector>.
struct failure {
    int value = 0;
    const void* category = nullptr;
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return value != 0; }
};

struct range;    // control block of one reserved range; never freed, so that owner_of() may read it at any time

// A container's part of a range that it has acquired. `control` is null if there is none.
struct held_range {
    range* control = nullptr;
    std::byte* base = nullptr;
    std::size_t committed = 0;    // bytes accessible from base
    std::size_t reserved = 0;     // bytes
};

// All calls take the control block by value and touch nothing else of the caller: see "register cursor" in docs/design.md.

// Reserves `bytes`, rounded up to pages; unless `exact`, tries half as much when refused, and so on down to `floor_bytes`. Takes a kept
// range if there is one: of any owner unless `exact`, otherwise of this size; one with about as much memory as the owner will use, if
// `known_use` says it, otherwise the newest. If refused, sets `why`, returns an empty range.
HEADROOM_API held_range acquire_range(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                      failure& why, std::size_t known_use = 0) noexcept;

// Releases the range to the cache of kept ranges or to the system. Null is ignored. `used`, the bytes in use from the base, says what is
// worth keeping of a premapped range; the library knows that of a guarded one.
HEADROOM_API void release_range(range* control, std::size_t used = 0) noexcept;

// Commits at least the first `needed` bytes, and more as the policy says. Returns the committed bytes in total. If refused, sets `why` and
// returns 0; nothing has changed then. Precondition: needed <= reserved.
HEADROOM_API std::size_t commit_to(range* control, std::size_t needed, failure& why) noexcept;

// Like commit_to(), but populates nothing: memory arrives at first touch.
HEADROOM_API std::size_t commit_unpopulated(range* control, std::size_t needed, failure& why) noexcept;

// Commits the first `needed` bytes, rounded up to pages, without a policy, for reserve(). Populates nothing. Otherwise like commit_to().
HEADROOM_API std::size_t commit_exactly(range* control, std::size_t needed, failure& why) noexcept;

// Makes the first `needed` bytes accessible, so that they are charged and a later commit_to() is not refused: a request built in steps
// fails before it touches memory. Populates nothing; commits them only if an earlier owner left memory for all of them. If refused, sets
// `why`. Precondition: needed <= reserved.
HEADROOM_API void charge(range* control, std::size_t needed, failure& why) noexcept;

// Decommits what lies past `kept` bytes, rounded up to pages, and returns its memory to the system. Returns the committed bytes in total.
// Cannot fail: what the system refuses to take back stays committed.
HEADROOM_API std::size_t shrink(range* control, std::size_t kept) noexcept;

// Advises the system to keep small pages in the range: it would otherwise fill huge pages of which a part was discarded. Huge pages that
// are there stay; memory committed later gets them as the policy says.
HEADROOM_API void withdraw_huge_advice(range* control) noexcept;

// Moves the first `bytes` of `from` to the start of `to`, by page tables where possible, else by memcpy. The contents of `from` are
// unspecified afterwards. Cannot fail. Precondition: `to` has committed as much.
HEADROOM_API void move_contents(range* from, range* to, std::size_t bytes) noexcept;

// True if `bytes` exceed all memory or set_min_available_memory() forbids them. For memory that is not in a range.
[[nodiscard]] HEADROOM_API bool exceeds_memory(std::size_t bytes) noexcept;

// Adds to page_statistics::bytes_copied.
HEADROOM_API void add_bytes_copied(std::size_t bytes) noexcept;

}}}    // namespace headroom::detail
