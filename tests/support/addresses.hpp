// What tests must know of addresses: how much room they give, and how messages print them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace headroom_test {

// With 64 bits there is room for whatever a test reserves; with 32 it has to ask for less.
constexpr bool many_addresses = sizeof(std::size_t) >= 8;

// An address in the message that a program dies with. GoogleTest's own patterns, which it has where the system has none, know
// no sets of characters; and there, on Windows, printf writes no 0x.
#if defined(GTEST_USES_SIMPLE_RE)
inline const std::string an_address = "\\w+";
#else
inline const std::string an_address = "0x[0-9a-f]+";
#endif

}    // namespace headroom_test
