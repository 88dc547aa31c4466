// What a program finds in errno after malloc or free is not the recorder's. Only what may call the system keeps it: each asking costs
// a call.
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
