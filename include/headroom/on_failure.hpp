// SPDX-License-Identifier: MIT
// Calls a handler where a library built with exceptions throws.
//
// A library compiled with -fno-exceptions has nothing to throw: it makes the exception object and passes it to one handler, which ends the
// program or leaves it another way. The handler is set at run time, like std::set_terminate's: a definition in the program could replace
// one neither in a shared library nor in the file that compiles the single header.
#pragma once

#include <headroom/detail/language.hpp>

#include <cstdint>
#include <exception>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 {

// Class of the exception that a library with exceptions throws: std's, or `refused` and `file_error`.
enum class failure_kind : std::uint8_t {
    bad_alloc,
    length_error,
    out_of_range,
    invalid_argument,
    system_error,
    refused,
    file_error
};

// Receives the exception, which static_cast turns into the class that `kind` names. May not return: if it does, the process aborts.
using failure_handler = void (*)(failure_kind kind, const std::exception& what);

// Sets the handler for all threads; null restores the default, which prints what() to standard error and aborts. Returns the handler
// before, null if none was set. Thread-safe. Only libraries compiled without exceptions define it: with others it does not link.
HEADROOM_API failure_handler on_failure(failure_handler handler) noexcept;

}}    // namespace headroom
