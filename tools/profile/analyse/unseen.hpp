// SPDX-License-Identifier: MIT
// Memory that a process used and that no recorded call gave it.
#pragma once

#include <string>
#include <vector>

#include "totals.hpp"

namespace headroom::profile {

// Allocations whose call stack has an operator new of the program's own.
struct own_new_calls {
    double allocations = 0;
    double growths = 0;
    block_sizes sizes;
};

// Returns why advice about this process would be about a part of its memory; empty if nearly all was seen.
std::vector<std::string> unseen_memory(const process_totals& process, const own_new_calls& through_own_new);

}    // namespace headroom::profile
