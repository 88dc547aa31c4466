// The calls that containers make on the range they hold. See reservation.hpp for the same with an owner.
#pragma once

#include <cstddef>

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Why the system refused: a std::error_code's value and category, without the header it takes, which alone is as much to
// compile as <vector>.
struct failure {
    int value = 0;
    const void* category = nullptr;
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return value != 0; }
};

struct range;    // the control block of one reserved range; never freed, so that owner_of may read it at any time

// What a container keeps of a range it has acquired. An empty one has a null `control`.
struct held_range {
    range* control = nullptr;
    std::byte* base = nullptr;
    std::size_t committed = 0;    // bytes accessible from base
    std::size_t reserved = 0;     // bytes
};

// All calls take the control block by value and touch nothing else of the caller's: see "register cursor" in docs/design.md.

// Size hint for choosing a warm range.
struct expected_use {
    std::size_t bytes = 0;    // that the owner will use at least
    bool may_grow = true;     // false: it will use no more
};

// A range of `bytes` (rounded up to pages). With `exact` false it backs off by halving, down to `floor_bytes`, when
// refused. Empty and `why` set when refused. O(1); a system call unless a warm one is at hand.
HEADROOM_API held_range acquire(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy, failure& why,
                                expected_use use = {}) noexcept;

// Gives the range back, to the warm cache or to the system. Null is ignored. `used`, the bytes in use from the base, tells
// an open range what is worth keeping warm; a guarded one knows for itself.
HEADROOM_API void release_range(range* control, std::size_t used = 0) noexcept;

// Commits at least `needed` bytes from the base, and more as the policy says. Returns the new count of committed bytes, or
// 0 and sets `why` when refused (nothing has changed then). Precondition: needed <= reserved.
HEADROOM_API std::size_t commit_to(range* control, std::size_t needed, failure& why) noexcept;

// As commit_to(), but populates nothing: memory arrives at first touch.
HEADROOM_API std::size_t commit_unpopulated(range* control, std::size_t needed, failure& why) noexcept;

// The same without a policy: exactly `needed` bytes, rounded up to pages (for an explicit reserve()).
HEADROOM_API std::size_t commit_exactly(range* control, std::size_t needed, failure& why) noexcept;

// Charges the first `needed` bytes, without committing or populating them, so that commit_to() up to there is not refused later. Sets
// `why` if refused; nothing has changed then. Lets a request that is built in steps fail before it touches memory. Precondition: needed
// <= reserved.
HEADROOM_API void charge(range* control, std::size_t needed, failure& why) noexcept;

// Decommits what lies past `kept` bytes, rounded up to pages, and gives that memory back to the system. Returns the new
// count of committed bytes. Cannot fail: what the system refuses to take back stays committed.
HEADROOM_API std::size_t shrink(range* control, std::size_t kept) noexcept;

// Moves the first `bytes` of `from` to the start of `to`, by page tables where the system can and byte by byte where not;
// `to` must have committed that much. Commits nothing, cannot fail. The contents of `from` are unspecified afterwards.
HEADROOM_API void move_contents(range* from, range* to, std::size_t bytes) noexcept;

// True if the library refuses `bytes` more: they exceed all memory, or set_min_available_memory() forbids them. For memory that does not
// come from a range.
[[nodiscard]] HEADROOM_API bool exceeds_memory(std::size_t bytes) noexcept;

HEADROOM_API void count_copied(std::size_t bytes) noexcept;

}}}    // namespace headroom::detail
