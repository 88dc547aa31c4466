// SPDX-License-Identifier: MIT
// The steps by which ranges are filled and emptied. All functions that change a range require its mutex.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "range/quarantine.hpp"
#include "range/control_block.hpp"
#include "system/admission.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Bytes of a kept range committed at once for its next owner: what the default policy may leave unused.
inline constexpr std::size_t initial_warm_commit = std::size_t{64} << 10;

// Rounds up to pages. A mask, because a page is a power of two and a division takes many bytes of code.
[[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t whole_pages(std::size_t bytes) noexcept {
    const std::size_t page = page_size();
    return (bytes + (page - 1)) & ~(page - 1);
}

// Makes the range accessible up to `to`, and charges it. Returns the error if the system or admit() refuses; nothing has changed then.
[[nodiscard]] std::error_code make_accessible(locked_range control, std::size_t to) noexcept;

// Largest number of bytes that one call populates ahead; more if a sixteenth of the committed part or a step of the policy is more. The
// rest of a larger request arrives at first touch: it may be written to much later, or never.
inline constexpr std::size_t max_populate_ahead = std::size_t{4} << 20;

// Commits [committed, to). With populate_when::now, populates what has no memory, up to max_populate_ahead; other memory arrives at first
// touch. If refused, returns the error; nothing is committed.
[[nodiscard]] std::error_code commit_up_to(locked_range control, std::size_t to, populate_when how) noexcept;

// Returns the memory past `kept` bytes, rounded down to pages, to the system, and its charge. False if refused: it stays committed, perhaps
// without contents, and the range is unfit for another owner.
bool release_memory_after(locked_range control, std::size_t kept) noexcept;

// Says that up to `bytes` of what set_min_available_memory() admitted for the range were written, or are given back.
void settle_range(locked_range control, std::size_t bytes) noexcept;

// Makes all of a kept range inaccessible. False if the system refuses.
[[nodiscard]] bool protect_memory(locked_range control) noexcept;

// Returns the first offset from `bytes` on where a huge page can begin, in bytes from the base.
[[nodiscard]] inline std::size_t huge_page_after(const range* control, std::size_t bytes) noexcept {
    const auto inside = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(control->start()) % huge_page_alignment);
    return round_up(bytes + inside, huge_page_alignment) - inside;
}
// Number of ranges with advice for huge pages in a part, which takes two more mappings.
extern constinit std::atomic<std::size_t> ranges_with_advice;

// Notes up to where huge pages were asked for, in bytes from the base; 0: nowhere.
void set_huge_until(locked_range control, std::size_t bytes) noexcept;

// Asks for huge pages from the policy's `from()` or the committed bytes on, once, unless the process wants none. Does not ask whether the
// policy has them.
void advise_huge_rest(locked_range control) noexcept;

// Asks for the huge pages that fit into [from, to). Returns where they are, in bytes from the base; nothing if none fits.
struct huge_part {
    std::size_t begin = 0;
    std::size_t end = 0;
};
[[nodiscard]] huge_part advise_huge_within(locked_range control, std::size_t from, std::size_t to) noexcept;

// True if kept memory is inaccessible until its next owner commits it. Otherwise the next owner gets it without a system call.
[[nodiscard]] inline bool warm_memory_is_protected() noexcept {
    return hardened() || valgrind_present() || memory_checker_present();
}

// Reports the range's bytes to a heap profiler. Not for a premapped range, whose touched bytes are unknown.
void report_to_heap_profiler(const range* control, std::size_t bytes) noexcept;
// Adds the range to, or removes it from, the roots of a leak checker. Not a premapped range, which would take too long to scan.
void report_to_leak_checker(const range* control, bool wanted) noexcept;

// Zeroes old contents of [from, to), just made accessible, in hardened processes.
void zero_old_contents(locked_range control, std::size_t from, std::size_t to) noexcept;

}}}    // namespace headroom::detail
