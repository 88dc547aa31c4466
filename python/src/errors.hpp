// SPDX-License-Identifier: MIT
// C++ exceptions as Python's own errors.
#pragma once

#include <exception>

namespace headroom_python {

// Sets the Python error that says the same. Precondition: called where an exception is being handled.
void set_python_error() noexcept;

// Before 3.14 Python ends a thread that comes back to it while the interpreter ends: by pthread_exit, which unwinds the stack on Linux
// and ends the process at a noexcept function. A handler that catches that unwinding calls this instead, as later versions do:
// the thread waits until the process is gone.
[[noreturn]] void wait_for_the_end() noexcept;

}    // namespace headroom_python
