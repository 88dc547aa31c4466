// SPDX-License-Identifier: MIT
// Properties of a program's file, read before it is run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "preload/refusal.hpp"

namespace headroom::profile {

// Returns why a preloaded library, which messages call `what`, sees nothing of this program; empty if it does.
std::string why_not(const std::string& path, const std::string& what = "the recorder");

// Returns a sentence about the program at `path`, without its full stop; empty for refusal::none.
std::string words_for(refusal why, const std::string& path, const std::string& what = "the recorder");

// Returns the libraries that LD_PRELOAD names, in an environment whose variables are each ended by a zero.
std::vector<std::string> preloaded_in(const std::string& environment);

// True if both are files of one name, wherever they lie: a container may have them elsewhere.
bool is_same_library(const std::string& one, const std::string& other);

// True if the file exports a function malloc.
bool defines_malloc(const std::string& path);

// Returns a sentence about the program at `path`, without its full stop, if it needs a sanitizer's library, which ends programs into which
// something is preloaded; empty otherwise.
std::string sanitizer_words(const std::string& path);

// Returns the program that runs the script at `path`, by its first line; empty for what is no script.
std::string interpreter_of(const std::string& path);

// Returns the bytes of a program's global variables; 0 if its file cannot be read.
std::uint64_t static_bytes(const std::string& path);

// Returns the file that execvp would run; empty if there is none.
std::string find_program(const std::string& name);

}    // namespace headroom::profile
