// SPDX-License-Identifier: MIT
#include "engine/stop.hpp"

#include <signal.h>

namespace headroom::lab {
namespace {

volatile sig_atomic_t noted = 0;

void note(int signal) { noted = signal; }

}    // namespace

void note_stop_signals() {
    struct sigaction action{};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);    // without SA_RESTART: waiting calls return
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, &action, nullptr);    // the terminal has gone
}

int stop_signal() noexcept { return noted; }

}    // namespace headroom::lab
