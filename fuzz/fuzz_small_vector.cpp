// SPDX-License-Identifier: MIT
// libFuzzer's door to the differential body, for small_vector.
#include <cstdio>
#include <cstdlib>

#include "subjects.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        differential::run_bytes(differential::small_vectors{}, data, size);
    } catch (const differential::mismatch& difference) {
        std::fprintf(stderr, "differs from std::vector: %s\n", difference.what());
        std::abort();
    }
    return 0;
}
