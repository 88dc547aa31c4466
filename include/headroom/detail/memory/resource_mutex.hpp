// The lock of a memory resource that many threads use: free in a forked child, whatever thread held it.
//
// Before a fork all such locks of the process are taken, by the thread that forks, and afterwards they are free in both
// processes. So a child finds every resource as it is between two calls. To get hold of them all, a fork keeps threads that
// hold none from taking one; a thread that holds one may take more (its upstream's). A thread that holds one may not wait for
// the others, for one of them might wait for it: where an upstream's allocate forks, what other threads hold stays locked in the
// child, and such a child may use no resource but those of the thread that forked.
//
// An upstream of the program's may have a lock and fork handlers (pthread_atfork) of its own. Locks must be taken in one order,
// the resource's first; and the system calls the handlers before a fork in the reverse order of their registration. So ours are
// registered again each time that a resource is made over an upstream: whatever the upstream registered before that comes after
// them. The first 1,000 such resources of a process do so, as handlers stay for good, and the first one over
// new_delete_resource(). While a process forks, its handlers may use resources.
#pragma once

#include <memory_resource>
#include <mutex>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

class HEADROOM_API resource_mutex {
public:
    // For what calls nobody under it.
    resource_mutex() noexcept;
    // For a resource that calls `upstream` under it.
    explicit resource_mutex(const std::pmr::memory_resource* upstream) noexcept;
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
