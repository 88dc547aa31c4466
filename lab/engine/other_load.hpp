// SPDX-License-Identifier: MIT
// The processor time that other programs take, so that nothing is measured beside them unnoticed.
#pragma once

#include <string>
#include <vector>

namespace headroom::lab {

// Other programs together: less than this many processors is a quiet machine.
constexpr double quiet_limit = 0.05;

struct other_load {
    struct program {
        std::string name;
        double processors = 0;
    };
    double processors = 0;            // all programs together, with the kernel's own work
    std::vector<program> programs;    // the three that took most, most first

    [[nodiscard]] bool quiet() const { return processors < quiet_limit; }
};

// Observes the machine for that long, while this process has no child at work. Returns no load where the system does not tell.
[[nodiscard]] other_load observe_other_load(double seconds);

// "1.3 processors (cc1plus 0.9, python3 0.4)"
[[nodiscard]] std::string to_string(const other_load& load);

// Observes second by second until the machine is quiet, for at most `seconds` or until a stop signal, and at least once. Returns the
// last observation, and subtracts from `seconds` what that took.
[[nodiscard]] other_load wait_until_quiet(double& seconds);

}    // namespace headroom::lab
