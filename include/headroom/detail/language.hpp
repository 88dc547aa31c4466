// SPDX-License-Identifier: MIT
// Included first by every public header. Stops a compilation in an older language at once with advice, instead of hundreds of errors.
#pragma once

#if (defined(_MSVC_LANG) && _MSVC_LANG < 202002L) || (!defined(_MSVC_LANG) && __cplusplus < 202002L)
#error "Headroom needs C++20: compile with -std=c++20 (GCC 11 or Clang 14 and later) or /std:c++20 (Visual Studio)"
// A missing header stops the compiler; #error alone does not.
#include <Headroom needs C++20>
#endif

// The version, for the preprocessor. scripts/lint_version.py compares it with CMakeLists.txt.
#define HEADROOM_VERSION_MAJOR 0
#define HEADROOM_VERSION_MINOR 1
#define HEADROOM_VERSION_PATCH 0
