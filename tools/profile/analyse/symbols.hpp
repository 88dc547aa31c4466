// Names for addresses: functions, those that were inlined too, and source lines, as far as the program's file tells.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "totals.hpp"

namespace headroom::profile {

struct source_frame {
    std::string function;  // demangled; empty where nothing is known
    std::string file;
    int line = 0;
    std::string module;  // path of the program or library
    bool inlined = false;
};

class symbols {
public:
    explicit symbols(const std::vector<code_module>& modules);
    ~symbols();
    symbols(const symbols&) = delete;
    symbols& operator=(const symbols&) = delete;

    // The functions at a return address, innermost first: those inlined there, and the one they are in.
    const std::vector<source_frame>& at(std::uint64_t return_address, std::uint32_t generation);

    // Names of programs and libraries that lack line numbers, or names altogether.
    [[nodiscard]] std::vector<std::string> without_lines() const;

private:
    struct implementation;
    std::unique_ptr<implementation> self_;
};

std::string demangled(const char* name);

}  // namespace headroom::profile
