// SPDX-License-Identifier: MIT
// Files of the C library that close themselves.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace headroom::profile {

struct file_closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_pointer = std::unique_ptr<std::FILE, file_closer>;

// Opens a file as fopen does. Null on failure; errno says why.
inline file_pointer open_file(const std::string& path, const char* mode) { return file_pointer(std::fopen(path.c_str(), mode)); }

}    // namespace headroom::profile
