// SPDX-License-Identifier: MIT
// Labels: own-heap no-valgrind
// Refused memory in checked builds, which also allocate a record of each block.
#define HEADROOM_CHECKED 1
#include "resources_refused_test.cpp"
