// SPDX-License-Identifier: MIT
// STXXL's vector in a file of its own, since its headers take long and warn much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace headroom::lab {

// Why it is absent; empty where it takes part.
const char* stxxl_absent();

// Appends 0, 1, 2, ... to a vector over the file, calls `appended`, and closes it; returns the sum of every 1000th element.
std::uint64_t append_with_stxxl(const std::string& path, std::size_t count, void (*appended)(void*), void* with);

}    // namespace headroom::lab
