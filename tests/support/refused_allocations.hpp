// SPDX-License-Identifier: MIT
// Repeats a function with each of its allocations refused, combined with each of its system calls refused.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "support/refusing_new.hpp"

namespace headroom_test {

struct faults_met {
    long allocations = 0;         // allocations of one run: each was refused, and each refusal ended in bad_alloc
    long refused_by_calls = 0;    // refusals of a system call, alone or with an allocation, that ended in bad_alloc
};

struct outcome {
    bool thrown = false;     // bad_alloc
    bool refused = false;    // an allocation was refused
    std::uint64_t calls = 0;
    long left = 0;    // allocations not freed
};
template <class Work>
outcome run_refusing(Work& work, long allocation, std::uint64_t call, headroom::testing::afterwards then) {
    outcome found;
    headroom::trim_cache();    // so that the function needs the system
    const long alive = allocations_alive;
    const std::size_t ranges = headroom::reservations().size();
    headroom::testing::fail_system_call(call == 0 ? ~std::uint64_t{0} : call, ENOMEM, then);
    allocations_until_refused = allocation;
    try {
        work();
    } catch (const std::bad_alloc&) {
        found.thrown = true;
    }
    found.refused = allocation != 0 && allocations_until_refused == 0;
    allocations_until_refused = 0;
    found.calls = headroom::testing::stop_failing();
    headroom::trim_cache();
    found.left = allocations_alive - alive;
    EXPECT_EQ(headroom::reservations().size(), ranges) << "a reservation was leaked";
    return found;
}

// Runs `work` for all pairs of a refused system call and a refused allocation, either of which may be none. It must throw
// bad_alloc only if something was refused, and never leak.
template <class Work>
faults_met refuse_each(Work work) {
    using headroom::testing::afterwards;
    faults_met met;
    work();    // makes the control blocks of ranges, which are kept
    for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
        bool more_calls = true;
        for (std::uint64_t k = 0; more_calls; ++k) {    // 0: no system call is refused
            more_calls = false;
            bool more_allocations = true;
            for (long j = 0; more_allocations; ++j) {    // 0: no allocation is refused
                SCOPED_TRACE("system call " + std::to_string(k) + ", allocation " + std::to_string(j));
                const outcome once = run_refusing(work, j, k, then);
                EXPECT_EQ(once.left, 0) << "leaked";
                const bool refused = once.refused;
                if (k == 0) {
                    EXPECT_EQ(once.thrown, refused);
                    met.allocations = (std::max)(met.allocations, refused ? j : 0);
                } else {
                    EXPECT_TRUE(!once.thrown || refused || once.calls >= k) << "thrown though nothing was refused";
                    met.refused_by_calls += once.thrown && !refused;
                }
                const std::uint64_t calls = once.calls;
                more_calls = more_calls || k == 0 || calls >= k;
                more_allocations = j == 0 || refused;
                if (testing::Test::HasFailure()) return met;
            }
        }
    }
    return met;
}

}    // namespace headroom_test
