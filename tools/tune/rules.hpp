// From what pages cost to what a container should do: a table of rules, and a few thresholds. Pure: the same costs give the
// same advice.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <headroom/commit_policy.hpp>

#include "costs.hpp"

namespace headroom::tools::tune {

// A rule for the commit policy. The first whose condition holds decides.
struct rule {
    const char* name;
    bool (*applies)(const costs&);
    commit_policy (*policy)(const costs&);
    std::string (*because)(const costs&);
};
[[nodiscard]] std::span<const rule> rules() noexcept;

struct advice {
    std::string rule;    // the name of the one that decided
    commit_policy commit;
    std::string because;
    std::size_t map_threshold = 0;    // bytes: vector_policy::map_threshold
    std::string threshold_because;
    std::vector<std::string> notes;    // what no policy carries: a sentence each
    // Whether both are what the library does anyway.
    [[nodiscard]] bool is_default() const noexcept;
};

[[nodiscard]] advice advise(const costs& measured);

// The smallest size from which on pages are moved faster than bytes are copied, at every size measured; 0: at none.
[[nodiscard]] std::size_t remap_crossing(const costs& measured);

// As C++ writes it: "headroom::balanced(65536, 4194304, 524288)".
[[nodiscard]] std::string code_of(const commit_policy& policy);

}    // namespace headroom::tools::tune
