// SPDX-License-Identifier: MIT
// How much memory a trace may make its reader take. A trace is a file that anybody may have sent: a few bytes of it can stand for
// gigabytes, which no recording of that size ever needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace headroom::profile {

class budget {
public:
    explicit budget(const std::string& path) {
        std::error_code error;
        const std::uintmax_t size = std::filesystem::file_size(path, error);
        left_ = (std::uint64_t{64} << 20) + (error ? 0 : size * 1024);
    }
    // Call before allocating `bytes`. Throws std::runtime_error if they exceed the rest of the budget.
    void take(std::uint64_t bytes) {
        if (bytes > left_)
            throw std::runtime_error("it stands for more than a recording of its size can hold; the rest is not read");
        left_ -= bytes;
    }

private:
    std::uint64_t left_;
};

}    // namespace headroom::profile
