// SPDX-License-Identifier: MIT
// Pages of the operating system: reserve, commit, protect, populate, remap, release.
//
// The lowest layer: a dozen calls that give Linux, generic POSIX and Windows one contract. Choose it only to
// build something that `reservation` does not already give; every call here is a system call, and costs one. An experiment of the
// documents: a release may change it (docs/stability.md).
//
// Contract of every function that takes a `page_range`, unless it says otherwise:
//   - `data` is not null and a multiple of page_size(); `bytes` is a positive multiple of page_size();
//   - the whole range lies inside one range that `reserve` returned and `release` has not yet taken back;
//   - the calls may be made from any thread; two calls on overlapping ranges must not run at once.
// Nothing here throws, logs or aborts: a failure comes back as a std::error_code of std::system_category (or
// std::errc::function_not_supported where the system has no such call), and leaves the range as it was, as far as the system does:
// where pages of a range differ in what was done to them, a call may have changed some before it is refused. errno stays as it was.
//
// Documents: "Reserve and commit" (the split between reserving and committing, and its emulation on POSIX);
// "A fast vector with mremap" (growing by page tables).
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/page_access.hpp>

namespace headroom { inline namespace v0_1 {

// Kinds of system call that growing makes. `file` is every call on a file but sync, which waits for the disk.
enum class page_call : std::uint8_t { reserve, release, commit, decommit, protect, prefault, remap, other, file, sync };
inline constexpr std::size_t page_call_kinds = 10;

// Whole pages of address space.
struct page_range {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
};

// Size of a page in bytes: the granularity of every range below. Constant during a run. Never throws.
HEADROOM_API [[nodiscard]] std::size_t page_size() noexcept;

// Size of a transparent huge page in bytes, or 0 if the system has none. Constant during a run.
HEADROOM_API [[nodiscard]] std::size_t huge_page_size() noexcept;

// Reserves `bytes`, rounded up to pages, of address space at a multiple of `alignment` (a power of two), without taking memory. With
// access::none nothing can be touched before `commit`. With access::read_write memory arrives page by page when it is touched, and
// `commit` is not needed; the system may refuse this where overcommit is off. On failure the range is empty and `error` is set: usually to
// ENOMEM, EINVAL or EAGAIN. Reserved space stays out of core dumps until it is committed, and altogether with access::read_write.
HEADROOM_API [[nodiscard]] page_range reserve(std::size_t bytes, std::size_t alignment, std::error_code& error,
                                              access initial = access::none) noexcept;

// Returns address space and memory to the system. `range`: exactly as `reserve` returned it. Invalidates: every pointer into it.
HEADROOM_API std::error_code release(page_range range) noexcept;

// Makes the range readable and writable. Where overcommit is off, the system charges the bytes here and may refuse (ENOMEM). Fresh pages
// read as zero. Does nothing to committed pages.
HEADROOM_API std::error_code commit(page_range range) noexcept;

// Returns the range's memory to the system and makes it inaccessible; it stays reserved. Invalidates: every pointer into it.
HEADROOM_API std::error_code decommit(page_range range) noexcept;

// Returns the memory of the range to the system, but leaves the range accessible: it reads as zero afterwards.
HEADROOM_API std::error_code discard(page_range range) noexcept;

// Sets the access to a committed range. Keeps the contents.
HEADROOM_API std::error_code protect(page_range range, access allowed) noexcept;

// Populates a committed range in one call; keeps the contents. Returns function_not_supported, or not_enough_memory if refused.
HEADROOM_API std::error_code prefault(page_range range) noexcept;

// Asks for huge pages in the range if `wanted`, else for ordinary ones. A hint: it may be refused or have no effect.
HEADROOM_API std::error_code advise_huge(page_range range, bool wanted = true) noexcept;

// Moves the pages of `from` to `to`, both committed and of one size, by page tables: the contents appear at `to`, no byte is copied, and
// `from` is left committed but fresh (zero). Returns function_not_supported if the system cannot; `from` is unchanged then, `to`
// unspecified, and the caller copies. Costs about 0.1 ms a GiB where both addresses are congruent modulo 2 MiB, and some microseconds for
// each mapping that `from` consists of. Document: "A fast vector with mremap".
HEADROOM_API std::error_code remap(page_range from, page_range to) noexcept;

// Makes every access to `range` fault, without splitting the mapping if the system can do that. For the two ends of premapped ranges.
HEADROOM_API std::error_code guard(page_range range) noexcept;

// Names the range in the system's list of mappings (/proc/PID/maps on Linux). `text` is cut to 79 bytes; null removes the name. A hint:
// function_not_supported if the system keeps no names.
HEADROOM_API std::error_code name(page_range range, const char* text) noexcept;

}}    // namespace headroom
