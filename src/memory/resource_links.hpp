// SPDX-License-Identifier: MIT
// The lock that guards the process-wide links between memory resources and threads: lists, caches, entries. The last lock that a thread
// takes: a resource calls its upstream under its own lock, and an upstream of the same kind then takes this one.
#pragma once

#include <cstdint>

#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// True while this thread forks and holds the lock, because fork handlers of the program may use resources.
extern constinit thread_local bool thread_forks_with_links;

// Mutex that a thread does not lock or unlock while its fork holds it.
class links_mutex {
public:
    void lock() noexcept {
        if (thread_locals_gone_at_end() || !thread_forks_with_links) mutex_.lock();
    }
    void unlock() noexcept {
        if (thread_locals_gone_at_end() || !thread_forks_with_links) mutex_.unlock();
    }

private:
    constant_mutex mutex_;
};

extern constinit links_mutex resource_links;

// Number of forks since the first process, under resource_links. When it changes, counts of threads restart: one thread is left.
extern constinit std::uint32_t forks_so_far;

}}}    // namespace headroom::detail
