// What the floors above need of the system besides pages. Implemented beside them, in src/pages_*.cpp.
#pragma once

#include <cstddef>

namespace headroom::inline v0_1::detail {

// Makes the calling thread give way to others. A wish.
void lower_thread_priority() noexcept;

// The bytes of memory that the process's group may have before the system kills; SIZE_MAX where nobody says so.
std::size_t memory_of_group() noexcept;

// Calls `before` in a process about to fork, and `after_in_parent` or `after_in_child` once it has. May be called once.
// Does nothing where there is no fork.
void on_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept;

}  // namespace headroom::inline v0_1::detail
