// SPDX-License-Identifier: MIT
// Keeps modules loaded whose functions were passed to other libraries, which may call them later.
#pragma once

namespace headroom { inline namespace v0_1 { namespace detail {

// Keeps the module of `code` loaded until the process ends, as far as the system can. Thread-safe.
void keep_module_loaded_once(const void* code) noexcept;

}}}    // namespace headroom::detail
