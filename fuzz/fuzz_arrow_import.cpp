// SPDX-License-Identifier: MIT
// Arrow arrays of other libraries, made of any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "support/foreign_array_bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        headroom_test::read_any_array(data, size);
    } catch (const std::exception& broken) {
        std::fprintf(stderr, "broken: %s\n", broken.what());
        std::abort();
    }
    return 0;
}
