// SPDX-License-Identifier: MIT
// The helper thread on POSIX systems.
#include <pthread.h>
#include <signal.h>

#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

using helper_body = void();
constinit helper_body* helper_runs = nullptr;
constinit pthread_t helper_thread{};

void* enter_helper(void*) {
    helper_runs();
    return nullptr;
}

}    // namespace

bool start_helper_thread(void (*run)()) noexcept {
    helper_runs = run;
    // The thread inherits the signal mask, so no signal is delivered to it even before its first statement. A program that waits for
    // signals in one thread must receive them there.
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    const bool started = pthread_create(&helper_thread, nullptr, enter_helper, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

void join_helper_thread() noexcept { pthread_join(helper_thread, nullptr); }
bool helper_thread_can_be_joined() noexcept { return true; }

}}}    // namespace headroom::detail
