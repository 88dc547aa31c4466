// SPDX-License-Identifier: MIT
// Runs a program whose system calls are filtered: under_filter FILE COMMAND [ARGUMENT]...   `under_filter filters/linux-5.4.txt ctest` runs
// all tests as on that kernel.
#include <unistd.h>

#include <cstdio>

#include "system/call_filter.hpp"

int main(int count, char** arguments) {
    if (count < 3) {
        std::fprintf(stderr, "usage: %s FILE COMMAND [ARGUMENT]...\n", arguments[0]);
        return 2;
    }
    if (!headroom_test::call_filter(arguments[1]).apply()) {
        std::perror("no filter can be made here");
        return 2;
    }
    execvp(arguments[2], arguments + 2);
    std::perror(arguments[2]);
    return 2;
}
