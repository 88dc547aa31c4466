// The one lock that guards what memory resources and threads know of each other in the whole process: lists, links, places.
//
// The last lock that a thread takes: a resource calls its upstream under its own lock, and where that is a resource of the
// same kind, this one is taken after that one. So nothing that takes a lock is done under it.
#pragma once

#include <cstdint>

#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Set while this thread forks, and holds the lock: handlers of the program's own may use resources meanwhile.
extern constinit thread_local bool thread_forks_with_links;

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

// How many forks lie between the first process and this one. Guarded by resource_links. What counts threads must start anew
// when it has changed: only the thread that forked is left.
extern constinit std::uint32_t forks_so_far;

}}}    // namespace headroom::detail
