// SPDX-License-Identifier: MIT
// The access to pages, without the header of std::error_code, which takes as long to compile as <vector>.
#pragma once

namespace headroom { inline namespace v0_1 {

// Access of the program to the bytes of a range.
enum class access { none, read_only, read_write };

}}    // namespace headroom
