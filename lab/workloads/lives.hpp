// SPDX-License-Identifier: MIT
// A vector's life, timed: made empty, filled one by one, looked at, destroyed. Shared by the experiments that differ only in how
// it is filled and which part of it they ask about.
#pragma once

#include <cstddef>

#include "measure/batches.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "peers/peer.hpp"

namespace headroom::lab {

struct life {
    double append = 0;     // s
    double destroy = 0;    // s
    double cpu = 0;        // s, of all threads, while appending
    double checksum = 0;
};

// One vector. `fill(vector)` appends; `look(vector)` gives the checksum, outside all times. Both should be inlined: a call would
// take the vector's address, and then no loop may keep its end in a register.
template <class Peer, class T, class Fill, class Look>
[[gnu::always_inline]] inline life live_once(std::size_t elements, Fill fill, Look look) {
    life result;
    stopwatch::time_point read;
    const double cpu = processor_time();
    const stopwatch::time_point begin = stopwatch::now();
    {
        auto vector = make_vector<Peer, T>(elements);
        fill(vector);
        const stopwatch::time_point built = stopwatch::now();
        result.append = seconds_between(begin, built);
        result.cpu = processor_time() - cpu;
        result.checksum = look(vector);
        read = stopwatch::now();
    }
    result.destroy = seconds_between(read, stopwatch::now());
    return result;
}

// Seconds of one life, of many in a row.
template <class Peer, class T, class Fill>
[[gnu::always_inline]] inline double live_again(std::size_t elements, std::size_t batches, Fill fill) {
    return median_of_batches({.most = batches},
                             [&]() __attribute__((always_inline)) {
                                 auto vector = make_vector<Peer, T>(elements);
                                 fill(vector);
                                 // The vector is used: it may not be optimised away.
                                 asm volatile("" : : "r"(vector.data()) : "memory");
                             })
        .seconds;
}

}    // namespace headroom::lab
