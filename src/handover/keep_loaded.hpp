// Keeps modules loaded that have passed the address of a function to other libraries: a shared library or plug-in must not be unloaded
// while they may call it.
#pragma once

namespace headroom { inline namespace v0_1 { namespace detail {

// Keeps the module of `code` loaded until the process ends, as far as the system can. Thread-safe.
void keep_module_loaded_once(const void* code) noexcept;

}}}    // namespace headroom::detail
