// SPDX-License-Identifier: MIT
// Allocators that a user would preload instead of changing a line: a contender named "X under NAME" is X in a process that
// was started so.
//
// An experiment names the contenders that take part so (`experiment::preloaded`); the engine adds one for each allocator,
// under which the same program runs. What this machine has not is announced as absent, with what to install.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headroom::lab {

struct preload {
    std::string name;    // "jemalloc", "mimalloc 3.4", "hugetlb"
    std::string version;
    std::string absent;    // why it cannot be had; empty when it can
    std::vector<std::pair<std::string, std::string>> environment;
};

// The library in that file, tried once; no file: it was not found.
[[nodiscard]] preload preload_from(const std::string& name, const std::string& file);

// All of them, in the order in which they stand in the report: those of the system, those of given folders, and glibc's own
// allocator told to ask for huge pages.
[[nodiscard]] const std::vector<preload>& preloads();

// "std::vector under jemalloc" → the preload of that name; null for a contender that runs as it is.
[[nodiscard]] const preload* preload_of(const std::string& contender);

// "std::vector under jemalloc" → "std::vector".
[[nodiscard]] std::string without_preload(const std::string& contender);
[[nodiscard]] std::string with_preload(const std::string& contender, const preload& by);

}    // namespace headroom::lab
