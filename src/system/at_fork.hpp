// What the library locks while the process forks, in one order.
//
// A child has only the thread that forked. A lock that another thread held at that moment would stay locked in it for ever,
// and what that lock guards would be half changed. So each module with process-wide state registers here what must happen:
// `before` takes its locks, `in_parent` gives them back, `in_child` gives them back and forgets what the other threads had
// in hand. The order is the one in which threads take these locks, the outermost first.
#pragma once

#include <cstddef>

namespace headroom { inline namespace v0_1 { namespace detail {

// One place for each module; a new one goes between those that it calls and those that call it.
enum class fork_place : std::size_t {
    concurrent_vectors,    // no lock: what a thread of the parent held is held by nobody in the child
    memory_resources,      // the locks of shared resources: they call their upstreams while they hold them; and, within those,
                           // the lock of who belongs to whom among threads and resources
    files,                 // who writes to files; nothing else is locked meanwhile
    prefaulter,            // no lock: whether there is a helper thread
    ranges,                // the registry and the warm cache
    count
};

enum class fork_moment { before, in_parent, in_child };
using fork_handler = void(fork_moment) noexcept;

// Registers a module's handler, from a static initialiser of its source file. Always true.
bool at_fork(fork_place place, fork_handler* handler) noexcept;

}}}    // namespace headroom::detail
