// SPDX-License-Identifier: MIT
// Scope guard: disables cancellation of the thread (pthread_cancel) during calls that may not throw. Cancellation unwinds the stack from
// within a call that may wait (write, fsync, nanosleep, ...), and ends the program if it meets a noexcept function. A cancellation
// requested meanwhile happens at a later cancellation point of the program.
#pragma once

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace headroom { inline namespace v0_1 { namespace detail {

class cancellation_guard {
public:
    cancellation_guard(const cancellation_guard&) = delete;
    cancellation_guard& operator=(const cancellation_guard&) = delete;
#if !defined(_WIN32) && defined(PTHREAD_CANCEL_DISABLE)    // Android has no cancellation
    cancellation_guard() noexcept { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~cancellation_guard() {
        int disabled = 0;
        (void)pthread_setcancelstate(before_, &disabled);
    }

private:
    int before_ = 0;
#else
    cancellation_guard() noexcept {}
    ~cancellation_guard() {}
#endif
};

}}}    // namespace headroom::detail
