// SPDX-License-Identifier: MIT
// Repeats an operation and refuses its first system call, then its second, ... until none is refused.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <optional>
#include <string>

#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "support/elements.hpp"

namespace headroom_test {

struct refusals {
    std::uint64_t calls = 0;     // made by the operation when none is refused
    std::uint64_t thrown = 0;    // refusals that ended in bad_alloc
};

// `prepare()` returns a container. If `operation(container)` throws bad_alloc, it must leave elements, size and address
// unchanged. If it does not throw, it must have the result of a run without refusals. Nothing leaks, no reservation stays behind,
// and the container is usable.
template <class Prepare, class Operation>
refusals refuse_each_call(Prepare prepare, Operation operation, int error = ENOMEM,
                          headroom::testing::afterwards then = headroom::testing::afterwards::succeed) {
    using container_type = decltype(prepare());
    refusals result;
    headroom::trim_cache();
    const std::size_t reservations = headroom::reservations().size();
    const long live = book.live;
    numbers_list expected;
    {
        container_type container = prepare();
        operation(container);
        expected = numbers(container);
    }
    for (std::uint64_t k = 1;; ++k) {
        SCOPED_TRACE("system call " + std::to_string(k) + " refused with " + std::to_string(error));
        std::uint64_t calls = 0;
        headroom::trim_cache();    // so that all containers start alike
        {
            container_type container = prepare();
            headroom::trim_cache();    // so that the operation needs the system
            const numbers_list before = numbers(container);
            const auto* const where = container.data();
            bool thrown = false;
            headroom::testing::fail_system_call(k, error, then);
            try {
                operation(container);
            } catch (const std::bad_alloc& refused) {
                thrown = true;
                EXPECT_NE(std::string(refused.what()), "");
            }
            calls = headroom::testing::stop_failing();
            if (thrown) {
                ++result.thrown;
                EXPECT_EQ(numbers(container), before);
                // A container that owned nothing may keep the memory that it got before the refusal.
                if (where != nullptr) {
                    EXPECT_EQ(container.data(), where);
                }
                EXPECT_GE(calls, k) << "thrown though nothing was refused";
            } else {
                EXPECT_EQ(numbers(container), expected);
            }
            container.clear();
            append(container, 30);
            EXPECT_EQ(numbers(container), counted(30));
        }
        headroom::trim_cache();
        EXPECT_EQ(headroom::reservations().size(), reservations) << "a reservation was leaked";
        EXPECT_EQ(book.live, live) << "elements were leaked, or destroyed more than once";
        if (calls < k) {
            result.calls = calls;
            return result;
        }
        if (testing::Test::HasFailure()) return result;
    }
}

}    // namespace headroom_test
