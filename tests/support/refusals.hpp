// Runs an operation again and again, and has the system refuse its first call, then its second, ... until none is refused.
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
    std::uint64_t calls = 0;     // system calls that the operation makes when none is refused
    std::uint64_t thrown = 0;    // times that a refusal came back as bad_alloc
};

// `prepare()` returns a container; `operation(container)` may throw bad_alloc, and then must have changed nothing:
// elements, size and place. When it does not throw (it found another way), it must have done what it does when nothing is
// refused. Either way nothing leaks, no reservation stays behind, and the container can be used.
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
        headroom::trim_cache();    // so that every container is prepared alike
        {
            container_type container = prepare();
            headroom::trim_cache();    // so that the operation has to ask the system
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
                // One that owned nothing may keep the room that it got before the refusal.
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
