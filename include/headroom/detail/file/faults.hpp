// SPDX-License-Identifier: MIT
// Exceptions of file_table: std::invalid_argument if only some columns are writers, and if a new one is shorter than the committed part of
// others; file_error if a file to be made has elements.
#pragma once

#include <filesystem>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

HEADROOM_API [[noreturn]] void throw_mixed_access();
HEADROOM_API [[noreturn]] void throw_new_column();
HEADROOM_API [[noreturn]] void throw_has_elements(const std::filesystem::path& path);

}}}    // namespace headroom::detail
