// SPDX-License-Identifier: MIT
// Reads and damages bytes of a file.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace headroom_test {

inline std::string bytes_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
inline void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}    // namespace headroom_test
