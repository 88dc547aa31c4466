// Runs a piece of work again and again, with each of its allocations refused beside each of its system calls.
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
    long allocations = 0;         // how many a work makes: each was refused, and each came back as bad_alloc
    long refused_by_calls = 0;    // of all pairs with a system call: how many came back as bad_alloc
};

struct outcome {
    bool thrown = false;     // bad_alloc
    bool refused = false;    // an allocation was
    std::uint64_t calls = 0;
    long left = 0;    // allocations that were not given back
};
template <class Work>
outcome run_refusing(Work& work, long allocation, std::uint64_t call, headroom::testing::afterwards then) {
    outcome found;
    headroom::trim_cache();    // or the work might have nothing to ask of the system
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

// Runs `work` with each of its system calls refused, beside each of its allocations refused, for all pairs; either may be none.
// It throws bad_alloc only where something was refused. Whatever happens, nothing is leaked.
template <class Work>
faults_met refuse_each(Work work) {
    using headroom::testing::afterwards;
    faults_met met;
    work();    // control blocks of ranges are made once and kept
    for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
        bool more_calls = true;
        for (std::uint64_t k = 0; more_calls; ++k) {    // 0: the system refuses nothing
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
