// SPDX-License-Identifier: MIT
// Runs the differential body of fuzz/ as unit tests: first the corpus, then random bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include "../fuzz/subjects.hpp"
#include "support/corpus.hpp"
#include "support/emulated.hpp"
#include "support/sanitizers.hpp"

namespace headroom_test {

template <class List>
struct as_types;
template <class... Cs>
struct as_types<differential::list<Cs...>> {
    using type = testing::Types<Cs...>;
    static constexpr std::uint64_t count = sizeof...(Cs);
};

// Default number of steps. A sanitizer makes each ten times slower.
inline constexpr std::uint64_t some_steps = sanitizer_needs_memory ? 200'000 : 1'000'000;

// Returns the random steps for each container: an equal share of HEADROOM_STEPS, or of `by_default`.
template <class List>
std::uint64_t share_of_steps(std::uint64_t by_default) {
    const char* const wanted = std::getenv("HEADROOM_STEPS");
    const std::uint64_t all = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : times(by_default, by_default / 50);
    return all / as_types<List>::count + 1;
}

// Returns HEADROOM_SEED, or a fixed seed, so that failures are reproducible.
inline std::uint64_t seed() {
    const char* const wanted = std::getenv("HEADROOM_SEED");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 20261120;
}

template <class Container>
void run_random(std::uint64_t steps) {
    SCOPED_TRACE("seed " + std::to_string(seed()));
    try {
        EXPECT_EQ(differential::run<Container>(differential::random_bytes(seed(), steps)), steps);
    } catch (const differential::mismatch& difference) {
        ADD_FAILURE() << difference.what();
    }
}

// Replays every file of fuzz/corpus/NAME. Returns the number of files.
template <class List>
std::size_t replay_corpus(List list, const std::string& name) {
    return replay_corpus(name, [list](const std::uint8_t* data, std::size_t size) { differential::run_bytes(list, data, size); });
}

}    // namespace headroom_test
