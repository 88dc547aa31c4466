// SPDX-License-Identifier: MIT
// Runs operations on memory resources from a string of bytes, for the fuzzer and its corpus. The first byte selects the resource,
// the other bytes the operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/given_chance.hpp"
#include "support/resource_kinds.hpp"

namespace headroom_test {

template <class... Kinds>
struct chosen_of {
    static void run(std::size_t which, given_chance chance) {
        std::size_t index = 0;
        const auto run_one = [&]<class Kind>() {
            if (index++ != which % sizeof...(Kinds)) return;
            resource_model<given_chance&> model(chance);
            run_operations<Kind>(model, [&] { return chance.left(); });
        };
        (run_one.template operator()<Kinds>(), ...);
    }
};

// Throws broken_promise if a resource misbehaves.
inline void run_bytes(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return;
    with_all_kinds<chosen_of>::run(data[0], given_chance(data + 1, size - 1));
}

}    // namespace headroom_test
