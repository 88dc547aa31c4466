// SPDX-License-Identifier: MIT
// A reading as text and as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "reading.hpp"

namespace headroom::tools::maps {

struct layout {
    std::size_t width = 80;       // columns
    std::size_t most_rows = 0;    // rows of ranges; 0: all
    bool each = false;            // a row for each range, rather than for each name
    bool growth = false;          // a column for it
};

// Returns lines that end with a line feed, none wider than the layout's columns, which are 80 at least.
[[nodiscard]] std::string text_of(const reading& what, const layout& how);

// One object; on one line, if `lines` is set.
[[nodiscard]] std::string json_of(const reading& what, bool one_line);

// "1.50M" for 1,572,864 bytes: three digits, in at most five characters.
[[nodiscard]] std::string short_bytes(std::uint64_t bytes);

}    // namespace headroom::tools::maps
