// SPDX-License-Identifier: MIT
// Which container a call stack belongs to, and what the container was doing, told from the names of library functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symbols.hpp"

namespace headroom::profile {

enum class doing {
    unknown,
    growing,      // moves its elements to a larger block
    reserving,    // the same, because reserve() was called
    rehashing,    // a hash table's array of buckets is made larger
    making        // allocates what is new: a node, a copy, the first block of a container
};

struct recognised {
    doing what = doing::unknown;
    std::string container;    // "std::vector<int>"; empty where it is not known
    std::string element;      // "int"
    std::string adapter;      // "std::priority_queue<int>", if the container is inside one: then it has no reserve()
    bool headroom = false;    // Headroom itself allocates
    std::size_t user = 0;     // the innermost frame that is not the library's; frames.size() if all are
};

// `frames`: innermost first.
recognised recognise(const std::vector<source_frame>& frames);

// A row of the table of functions by which containers are recognised.
struct known_function {
    std::string_view name;    // without class and template arguments
    doing what;
};
const std::vector<known_function>& known_functions();

// Without std::allocator, std::char_traits and inline namespaces: as people write it.
std::string readable(std::string name);

// "std::vector<int>::push_back" of "void std::vector<int>::push_back(int const&)".
std::string_view without_arguments(std::string_view name);

}    // namespace headroom::profile
