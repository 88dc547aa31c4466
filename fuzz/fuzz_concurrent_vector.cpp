// SPDX-License-Identifier: MIT
// libFuzzer's door to the model of concurrent_vector (tests/support/concurrent_model.hpp).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "support/concurrent_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        headroom_test::appended_kinds::run(data, size);
    } catch (const headroom_test::broken_concurrent_promise& broken) {
        std::fprintf(stderr, "differs from a list: %s\n", broken.what());
        std::abort();
    }
    return 0;
}
