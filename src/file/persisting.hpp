// SPDX-License-Identifier: MIT
// Making a file's elements durable, and truncating it.
#pragma once

#include <cstdint>
#include <system_error>

#include "file/opened_file.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Returns true if the file is shorter than known. Sets `error` and returns false if its size cannot be read. Sets the role of a writer
// whose handle has become another file's to `failed`: there may be another writer.
[[nodiscard]] bool detect_truncation(opened_file* control, std::error_code& error) noexcept;

struct persist_outcome {
    std::error_code error;
    const char* doing = "";
    bool cut = false;
    [[nodiscard]] bool done() const noexcept { return !error && !cut; }
};

// Makes the elements and then their number durable. Otherwise returns the error and what it was doing, or `cut` if the file was
// truncated. If it failed while writing, the new record may be on the disk, and the writer is `failed`; the last record stays.
[[nodiscard]] persist_outcome try_persist(opened_file* control, std::uint64_t size) noexcept;
// Throws the exception of commit() for the outcome.
[[noreturn]] void throw_persist_failure(const opened_file* control, const persist_outcome& outcome, std::uint64_t size);

// Truncates the file after `size` elements, or after the committed ones if more, and makes the pages past that inaccessible. Not while
// another vector reads: it may have mapped more.
void truncate_after(opened_file* control, std::uint64_t size) noexcept;

}}}    // namespace headroom::detail
