// The list of this process's writers to files.
#pragma once

#include <filesystem>
#include <system_error>

#include "file/opened_file.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// The list of this process's writers, which are none in a forked child. A writer enters it before it opens the handle for the lock;
// resource_unavailable_try_again if another writer has the lock. Leaving closes that handle and so releases the lock.
std::error_code lock_as_writer(opened_file* control, const std::filesystem::path& path) noexcept;
void leave_writers(opened_file* control) noexcept;

}}}    // namespace headroom::detail
