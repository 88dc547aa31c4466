// SPDX-License-Identifier: MIT
// The header of a file_vector's file, made of any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>

#include "support/file_header_bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        headroom_test::read_any_header(data, size);
    } catch (const std::exception&) {
        std::abort();
    }
    return 0;
}
