// Puts off a thread's cancellation (pthread_cancel) for the length of a call that may not throw.
//
// Cancellation unwinds the stack from within a call that may wait (write, fsync, nanosleep, ...). Where that meets a function that
// may not throw it ends the program. So such calls are made while it is off; what was asked for meanwhile happens later, in a call
// of the program's own.
#pragma once

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace headroom { inline namespace v0_1 { namespace detail {

class cancellation_guard {
public:
    cancellation_guard(const cancellation_guard&) = delete;
    cancellation_guard& operator=(const cancellation_guard&) = delete;
#if !defined(_WIN32) && defined(PTHREAD_CANCEL_DISABLE)    // (Android has no cancellation.)
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
