// What others call back must stay: a module (a shared library, a plug-in) that has handed out the address of a function is
// never unloaded again.
#pragma once

namespace headroom { inline namespace v0_1 { namespace detail {

// Keeps the module that `code` is in loaded until the process ends, as far as the system can. Any thread may call it.
void keep_module_loaded_once(const void* code) noexcept;

}}}    // namespace headroom::detail
