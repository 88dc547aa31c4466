// SPDX-License-Identifier: MIT
// std::vector of the standard library at hand: the yardstick.
#pragma once

#include <string>
#include <vector>

namespace headroom::lab {

struct std_vector {
    static constexpr const char* id = "std::vector";
    static std::string version() {
#if defined(_LIBCPP_VERSION)
        return "libc++ " + std::to_string(_LIBCPP_VERSION);
#elif defined(__GLIBCXX__)
        return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE) + " (" + std::to_string(__GLIBCXX__) + ")";
#else
        return "unknown";
#endif
    }
    template <class T>
    using container = std::vector<T>;
};

}    // namespace headroom::lab
