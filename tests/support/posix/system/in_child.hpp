// SPDX-License-Identifier: MIT
// Runs a function in a forked child, so that limits, exhaustion and crashes end there.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace headroom_test {

// Returns the body's result as the child's exit status, or 1000 + the signal that ended it. The child runs no destructors of its
// parent's objects.
template <class Body>
int in_child(Body body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        int status = 99;
        try {
            status = body();
        } catch (...) {
            status = 98;
        }
        std::fflush(nullptr);
        _exit(status);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

}    // namespace headroom_test
