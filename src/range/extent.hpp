// How far a range reaches: what its owner has, what may be touched, and what has memory. The steps from which those who fill
// ranges, and those who make, keep and end them, are built.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <headroom/detail/vector/held_range.hpp>

#include "range/quarantine.hpp"
#include "range/range.hpp"
#include "system/admission.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// How much of a warm range its next owner gets at once: what the default policy may leave unused.
inline constexpr std::size_t initial_warm_commit = std::size_t{64} << 10;

// Rounded up to pages. (A page is a power of two, and a division many bytes.)
[[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t whole_pages(std::size_t bytes) noexcept {
    const std::size_t page = page_size();
    return (bytes + (page - 1)) & ~(page - 1);
}

// Makes the range accessible up to `to`. Memory is charged here, and refused here, by the system or by admit(); nothing has changed then.
[[nodiscard]] std::error_code make_accessible(range* control, std::size_t to) noexcept;

// Bytes that one call populates at most beyond the committed part, or a sixteenth of it, or a step of the policy, if more. The rest of a
// larger request arrives at first touch: it may be written to much later, or never.
inline constexpr std::size_t max_populate_ahead = std::size_t{4} << 20;

// Updates bytes_in_use from memory() of a live range. Under the range's `batch` if the helper fills it.
void update_in_use(range* control) noexcept;
// Removes a range without an owner from bytes_in_use.
void remove_from_in_use(range* control) noexcept;

// Commits [committed, to). With provision::now, populates what is not warm, up to max_populate_ahead; other memory arrives at first
// touch. If refused, nothing is committed.
enum class populate_when { now, at_first_touch };
[[nodiscard]] std::error_code commit_up_to(range* control, std::size_t to, populate_when how) noexcept;

// The owner was given `committed` bytes: what it got warm is in use as far as that.
void update_warm_unused(range* control, std::size_t committed) noexcept;

// Gives the memory past `kept` bytes, rounded down to pages, back to the system. Where that is refused, nothing has changed.
void release_memory_after(range* control, std::size_t kept) noexcept;

// The first place at or behind `bytes` where a huge page can begin; in bytes from the base, as everything here.
[[nodiscard]] inline std::size_t huge_page_after(const range* control, std::size_t bytes) noexcept {
    const auto inside = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(control->start()) % huge_page_alignment);
    return round_up(bytes + inside, huge_page_alignment) - inside;
}
// Asks for huge pages where the policy wants them, the first time.
void advise_huge_once(range* control) noexcept;

// Whether memory that is kept warm is inaccessible until its next owner commits it. Where not, it stays as it is, and the next
// owner gets it without a system call.
[[nodiscard]] inline bool warm_memory_is_protected() noexcept {
    return hardened() || valgrind_present() || memory_checker_present();
}

[[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t committed_of(const range* control) noexcept {
    return control->extent.committed.load(std::memory_order_relaxed);
}
// Tells a heap profiler how much the range has. (Of an open range nobody knows how much was touched.)
void report_to_heap_profiler(const range* control, std::size_t bytes) noexcept;
// Tells a leak checker whether to look through the range. (One that is readable throughout would take too long.)
void report_to_leak_checker(const range* control, bool wanted) noexcept;

inline void set_committed(range* control, std::size_t bytes) noexcept {
    control->extent.committed.store(bytes, std::memory_order_release);
    report_to_heap_profiler(control, bytes);
}

// What an earlier owner left in [from, to), just made accessible, is not for the next one to see.
void zero_stale(range* control, std::size_t from, std::size_t to) noexcept;

}}}    // namespace headroom::detail
