// SPDX-License-Identifier: MIT
// libFuzzer's door to the model of memory resources (tests/support/resource_bytes.hpp).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "support/resource_bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        headroom_test::run_bytes(data, size);
    } catch (const headroom_test::broken_promise& promise) {
        std::fprintf(stderr, "broken promise: %s\n", promise.what());
        std::abort();
    }
    return 0;
}
