// SPDX-License-Identifier: MIT
// Size of the address space, and the pattern of an address in a death message.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace headroom_test {

// True with 64-bit addresses: every reservation of a test fits. With 32 bits a test has to reserve less.
constexpr bool many_addresses = sizeof(std::size_t) >= 8;

// Regular expression of an address in a death message. GoogleTest's own matcher, used on Windows, has no character classes;
// printf there writes no 0x.
#if defined(GTEST_USES_SIMPLE_RE)
inline const std::string an_address = "\\w+";
#else
inline const std::string an_address = "0x[0-9a-f]+";
#endif

}    // namespace headroom_test
