// SPDX-License-Identifier: MIT
// Skips the tests of file_vector where the system cannot map a growing file.
#pragma once

#include <gtest/gtest.h>

#include <system_error>

#include "support/filed.hpp"

namespace headroom_test {

class files_that_grow : public testing::Environment {
public:
    void SetUp() override {
        try {
            static_cast<void>(headroom_test::nameless_file<int>(1));
        } catch (const headroom::file_error& why) {
            if (why.code() != std::errc::function_not_supported) throw;
            GTEST_SKIP() << "this system cannot show a file that grows: " << why.what();
        }
    }
};
inline const testing::Environment* const files_that_grow_here = testing::AddGlobalTestEnvironment(new files_that_grow);

}    // namespace headroom_test
