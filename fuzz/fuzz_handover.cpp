// SPDX-License-Identifier: MIT
// libFuzzer's door to the model of what is handed over (tests/support/handover_model.hpp).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "support/handover_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        headroom_test::hand_over(data, size);
    } catch (const std::exception& broken) {
        std::fprintf(stderr, "broken: %s\n", broken.what());
        std::abort();
    }
    return 0;
}
