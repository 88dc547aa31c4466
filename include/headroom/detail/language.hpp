// Ends a compilation in an older language at once, and says what to do: otherwise hundreds of errors would follow.
#pragma once

#if (defined(_MSVC_LANG) && _MSVC_LANG < 202002L) || (!defined(_MSVC_LANG) && __cplusplus < 202002L)
#error "Headroom needs C++20: compile with -std=c++20 (GCC 11 or Clang 14 and later) or /std:c++20 (Visual Studio)"
// An error alone does not stop the compiler. A header that is not there does.
#include <Headroom needs C++20>
#endif
