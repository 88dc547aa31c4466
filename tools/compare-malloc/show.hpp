// SPDX-License-Identifier: MIT
// A comparison in words, and as JSON.
#pragma once

#include <string>

#include "comparison.hpp"

namespace headroom::tools {

// At most 80 columns wide but for the program's and the files' names.
[[nodiscard]] std::string comparison_text(const comparison& what);
[[nodiscard]] std::string comparison_json(const comparison& what);

}    // namespace headroom::tools
