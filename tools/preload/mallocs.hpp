// SPDX-License-Identifier: MIT
// The allocators on this machine that a program can be run over by preloading them (LD_PRELOAD).
#pragma once

#include <string>
#include <vector>

namespace headroom::tools {

struct malloc_library {
    std::string name;    // "mimalloc 2.0": the kind, and the version that its file's name has
    std::string file;    // empty: the C library's
};

// An environment variable by which a malloc asks for huge pages.
struct malloc_setting {
    std::string name;    // empty: none
    std::string value;
};

// Returns the mimalloc, jemalloc, tcmalloc and snmalloc libraries in the loader's usual folders and in LD_LIBRARY_PATH, newest first
// within a kind, a file once.
[[nodiscard]] std::vector<malloc_library> installed_mallocs();

// Returns the library that a command line means: NAME is an installed one by its whole name or its first word ("mimalloc": the newest),
// NAME=FILE any other. Throws std::invalid_argument, with the names there are, if there is none.
[[nodiscard]] malloc_library malloc_named(const std::string& word);

// Returns the setting with which the malloc asks for huge pages, joined with what this process has in that variable; empty: there is none.
[[nodiscard]] malloc_setting huge_pages_of(const malloc_library& library);

// Returns the value of LD_PRELOAD that has `file` before what this process was itself started with.
[[nodiscard]] std::string preload_value(const std::string& file);

// Runs a shell over the library. Returns why that fails, in the loader's words where it refuses the file; empty if it works.
[[nodiscard]] std::string why_not_preloadable(const malloc_library& library);

}    // namespace headroom::tools
