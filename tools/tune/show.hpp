// What was found, for people, for programs and for the compiler.
#pragma once

#include <string>

#include "costs.hpp"
#include "rules.hpp"

namespace headroom::tools::tune {

// Which machine was measured, and when.
struct occasion {
    std::string version;    // of Headroom: "0.1.0"
    std::string processor;
    std::string kernel;
    std::string date;
};
[[nodiscard]] occasion here_and_now();

// Lines of at most 80 columns.
[[nodiscard]] std::string table_text(const occasion& when, const costs& measured, const advice& found);
[[nodiscard]] std::string json_text(const occasion& when, const costs& measured, const advice& found);
// A header for users' programs: tuned::commit, tuned::settled_policy, tuned::vector_policy.
[[nodiscard]] std::string header_text(const occasion& when, const costs& measured, const advice& found);

}    // namespace headroom::tools::tune
