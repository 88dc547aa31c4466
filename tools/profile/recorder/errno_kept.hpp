// SPDX-License-Identifier: MIT
// Restores errno when destroyed, so that a program does not see the recorder's errors. Used only around system calls: reading errno
// costs a function call.
#pragma once

#include <cerrno>

namespace headroom::profile {

class errno_kept {
public:
    errno_kept() = default;
    ~errno_kept() { errno = before_; }
    errno_kept(const errno_kept&) = delete;
    errno_kept& operator=(const errno_kept&) = delete;

private:
    int before_ = errno;
};

}    // namespace headroom::profile
