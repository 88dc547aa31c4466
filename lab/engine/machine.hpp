// SPDX-License-Identifier: MIT
// The machine on which runs were made, as it goes into a result file.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace headroom::lab {

// Describes this machine: processor, memory, kernel and its settings, compiler, `flags` by optimisation level, and the
// versions of `libraries` by name. "id" is a hash of all that decides what a run measures: not of the time, nor of the size
// of the grid, so that an interrupted run can be taken up again.
[[nodiscard]] nlohmann::json describe_machine(const std::map<std::string, std::string>& flags,
                                              const std::map<std::string, std::string>& libraries, const std::string& grid);

}    // namespace headroom::lab
