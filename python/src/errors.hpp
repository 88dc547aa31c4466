// C++ exceptions as Python's own errors.
#pragma once

#include <exception>

namespace headroom_python {

// Sets the Python error that says the same. Precondition: called where an exception is being handled.
void set_python_error() noexcept;

}    // namespace headroom_python
