// Properties of a program's file, read before it is run.
#pragma once

#include <cstdint>
#include <string>

#include "preload/refusal.hpp"

namespace headroom::profile {

// Returns why a preloaded library sees nothing of this program; empty if it does.
std::string why_not(const std::string& path);

// Returns a sentence about the program at `path`; empty for refusal::none.
std::string words_for(refusal why, const std::string& path);

// Returns the program that runs the script at `path`, by its first line; empty for what is no script.
std::string interpreter_of(const std::string& path);

// Returns the bytes of a program's global variables; 0 if its file cannot be read.
std::uint64_t static_bytes(const std::string& path);

// Returns the file that execvp would run; empty if there is none.
std::string find_program(const std::string& name);

}    // namespace headroom::profile
