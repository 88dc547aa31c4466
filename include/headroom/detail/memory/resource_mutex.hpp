// The lock of a memory resource that many threads use: free in a forked child, whatever thread held it.
//
// Before a fork all such locks of the process are taken, by the thread that forks, and afterwards they are free in both
// processes. So a child finds every resource as it is between two calls. To get hold of them all, a fork keeps threads that
// hold none from taking one; a thread that holds one may take more (its upstream's). A thread that holds one may not wait for
// the others, for one of them might wait for it: where an upstream's allocate forks, what other threads hold stays locked in the
// child, and such a child may use no resource but those of the thread that forked.
#pragma once

#include <mutex>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

class HEADROOM_API resource_mutex {
public:
    resource_mutex() noexcept;
    ~resource_mutex();
    resource_mutex(const resource_mutex&) = delete;
    resource_mutex& operator=(const resource_mutex&) = delete;

    void lock() noexcept;
    void unlock() noexcept;

private:
    friend struct resource_forks;

    std::mutex mutex_;
    resource_mutex* next_;    // the process's list of all, guarded by resource_links
    resource_mutex* previous_ = nullptr;
};

}}}    // namespace headroom::detail
