// SPDX-License-Identifier: MIT
// Reads heaptrack's traces.
#pragma once

#include <string>

#include "totals.hpp"

namespace headroom::profile {

// Returns the totals of a trace as `heaptrack` writes it, compressed or not. Throws std::runtime_error.
trace_totals import_heaptrack(const std::string& path);

}    // namespace headroom::profile
