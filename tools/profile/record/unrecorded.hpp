// SPDX-License-Identifier: MIT
// Why processes of a command were not recorded, as far as it can be found from outside of them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "preload/presence.hpp"

namespace headroom::profile {

// Returns why the profile lacks what programs did that used much of the processor time, and were not recorded. `all_seconds`: of the
// command, and of what it waited for. `known`: reasons that the profile has already.
[[nodiscard]] std::vector<std::string> unrecorded_work(const tools::library_presence& presence, double all_seconds,
                                                       const std::set<std::string>& known);

// Returns the likely reason why no process of a command was recorded.
[[nodiscard]] std::string why_nothing(const std::string& program, const std::vector<std::string>& unrecorded);

}    // namespace headroom::profile
