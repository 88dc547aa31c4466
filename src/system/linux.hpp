// SPDX-License-Identifier: MIT
// Declarations shared by the Linux files, in addition to posix.hpp.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/pages.hpp>

#include "system/posix.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// True if madvise() refuses unknown advice, so that guards and MREMAP_DONTUNMAP work: not under QEMU. The first call may change errno.
[[nodiscard]] bool rejects_unknown_advice(page_range range) noexcept;

// True if overcommit is off (mode 2): the system charges all that it promises.
[[nodiscard]] bool overcommit_is_off() noexcept;

// False in a sandbox that hides /proc. Its filter may end the process at a system call that most filters allow.
[[nodiscard]] bool system_files_are_readable() noexcept;

// Opens a file of /proc or /sys for reading; negative if that fails. A system call, because the C library's function is a cancellation
// point. May change errno.
[[nodiscard]] long open_system_file(const char* path) noexcept;

// Reads the first `most` bytes of a file of /proc or /sys, and clears the rest of most + 1; all if it cannot be read.
void read_small_file(const char* path, char* text, std::size_t most) noexcept;

// The first bytes of a small system file, 0-terminated; empty if it cannot be read.
template <std::size_t Most = 128>
struct small_file {
    char text[Most];
    HEADROOM_ALWAYS_INLINE explicit small_file(const char* path) noexcept { read_small_file(path, text, sizeof text - 1); }
};

// Returns the number at the start of the text; 0 if there is none, SIZE_MAX if it is larger.
[[nodiscard]] std::size_t parse_number(const char* text) noexcept;

}}}    // namespace headroom::detail
