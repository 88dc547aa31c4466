// SPDX-License-Identifier: MIT
// Disables cancellation of this thread: malloc and free are no cancellation points, but what the recorder calls may be.
#pragma once

#include <pthread.h>

namespace headroom::profile {

class not_cancelled {
public:
    not_cancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~not_cancelled() { pthread_setcancelstate(before_, nullptr); }
    not_cancelled(const not_cancelled&) = delete;
    not_cancelled& operator=(const not_cancelled&) = delete;

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}    // namespace headroom::profile
