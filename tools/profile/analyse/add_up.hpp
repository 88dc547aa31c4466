// SPDX-License-Identifier: MIT
// Reads a trace file into totals, whichever program wrote it.
#pragma once

#include <string>

#include "totals.hpp"

namespace headroom::profile {

// Returns the totals of a trace of `headroom profile`, or of heaptrack. Throws std::runtime_error when the file cannot be read at all.
trace_totals add_up(const std::string& path);

}    // namespace headroom::profile
