// SPDX-License-Identifier: MIT
#include "stxxl.hpp"

#if defined(HEADROOM_LAB_STXXL)
#include <stxxl/io>
#include <stxxl/vector>

#include <cstdlib>
#include <iostream>

namespace headroom::lab {

const char* stxxl_absent() { return ""; }

std::uint64_t append_with_stxxl(const std::string& path, std::size_t count, void (*appended)(void*), void* with) {
    // It says what it does on standard output, where the result is expected, and in files beside.
    std::cout.rdbuf(nullptr);
    setenv("STXXLLOGFILE", "/dev/null", 1);
    setenv("STXXLERRLOGFILE", "/dev/null", 1);
    stxxl::syscall_file file(path, stxxl::file::RDWR | stxxl::file::CREAT | stxxl::file::TRUNC);
    std::uint64_t sum = 0;
    {
        stxxl::VECTOR_GENERATOR<int>::result vector(&file);
        for (std::size_t i = 0; i != count; ++i) vector.push_back(static_cast<int>(i));
        vector.flush();
        appended(with);
        const auto& read = vector;
        for (std::size_t i = 0; i < count; i += 1000) sum += static_cast<std::uint32_t>(read[i]);
    }
    return sum;
}

}    // namespace headroom::lab

#else

namespace headroom::lab {

const char* stxxl_absent() { return "STXXL is not installed (Debian: libstxxl-dev)"; }
std::uint64_t append_with_stxxl(const std::string&, std::size_t, void (*)(void*), void*) { return 0; }

}    // namespace headroom::lab

#endif
