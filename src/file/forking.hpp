// SPDX-License-Identifier: MIT
// The list of this process's writers to files.
#pragma once

#include <filesystem>
#include <system_error>

#include "file/opened_file.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Enters the list of this process's writers, opens the handle for the lock, and locks it. Returns resource_unavailable_try_again if another
// writer has the lock. The file stays listed if it fails, until leave_writers(). Thread-safe.
[[nodiscard]] std::error_code lock_as_writer(opened_file* control, const std::filesystem::path& path) noexcept;
// Leaves the list, closes the handle for the lock, and so releases the lock. Does nothing to a file that is not listed. Thread-safe.
void leave_writers(opened_file* control) noexcept;

}}}    // namespace headroom::detail
