// SPDX-License-Identifier: MIT
// Mutex of a thread-safe memory resource. In a forked child it is free, whichever thread held it.
//
// The thread that forks takes all these mutexes before, and they are free in both processes afterwards, so a child finds every resource
// between two calls. To get all of them, a fork keeps threads that hold none from taking one; a thread that holds one may take more (its
// upstream's). A thread that holds one cannot wait for the others, because one of them might wait for it: if an upstream's allocate forks,
// what other threads hold stays locked in the child, and the child may use only resources of the thread that forked.
//
// An upstream of the program may have a lock and fork handlers (pthread_atfork) of its own. Locks must be taken in one order, the
// resource's first, and the system calls handlers before a fork in the reverse order of registration. So ours are registered again for
// each resource made over an upstream, after the handlers that the upstream has registered. The first 1,000 such resources of a process do
// so, because handlers stay for good, and the first one over new_delete_resource(). A program's handlers may use resources.
#pragma once

#include <memory_resource>
#include <mutex>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

class HEADROOM_API resource_mutex {
public:
    // Makes the mutex of a resource that calls no code of the program under it.
    resource_mutex() noexcept;
    // Makes the mutex of a resource that calls `upstream` under it. Registers fork handlers again, see the limits in the file's comment.
    explicit resource_mutex(const std::pmr::memory_resource* upstream) noexcept;
    ~resource_mutex();
    resource_mutex(const resource_mutex&) = delete;
    resource_mutex& operator=(const resource_mutex&) = delete;

    // Locks the mutex; waits also while another thread forks, unless this one holds such a mutex. Does nothing while
    // this thread forks and holds all mutexes.
    void lock() noexcept;
    void unlock() noexcept;

private:
    friend struct resource_forks;

    std::mutex mutex_;
    resource_mutex* next_;    // list of all in the process, guarded by resource_links
    resource_mutex* previous_ = nullptr;
};

}}}    // namespace headroom::detail
