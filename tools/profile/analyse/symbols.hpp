// SPDX-License-Identifier: MIT
// Names for addresses: functions, those that were inlined too, and source lines, as far as the program's file tells.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "totals.hpp"

namespace headroom::profile {

class symbols {
public:
    explicit symbols(const std::vector<code_module>& modules);
    ~symbols();
    symbols(const symbols&) = delete;
    symbols& operator=(const symbols&) = delete;

    // The functions at a return address, innermost first: those inlined there, and the one they are in.
    const std::vector<source_frame>& at(std::uint64_t return_address, std::uint32_t generation);

    // Prefers the frames that a trace contains over those of the files now, which may have been rebuilt since.
    void remember(std::uint32_t generation, std::uint64_t return_address, const std::vector<source_frame>& frames);

    // Names of programs and libraries that lack line numbers, or names altogether.
    [[nodiscard]] std::vector<std::string> without_lines() const;

private:
    struct implementation;
    std::unique_ptr<implementation> self_;
};

// Writes the names of all addresses of a trace into its file and into its totals, so that it can be read elsewhere, and
// after its program has changed. Does nothing for addresses that have names already. Returns why the file does not have them
// all, its totals do; empty where it does. Throws std::runtime_error when it cannot be opened.
std::string write_names(trace_totals& trace);

std::string demangled(const char* name);

}    // namespace headroom::profile
