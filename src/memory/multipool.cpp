// SPDX-License-Identifier: MIT
// The slow paths of plain multipools, whatever this library is compiled with: with checks, a sanitizer, or without exceptions, which the
// build turns on for this file.
#define HEADROOM_COMPILES_PLAIN_MEMORY 1
#include <headroom/detail/memory/multipool_slow_paths.hpp>
