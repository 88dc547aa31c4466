// SPDX-License-Identifier: MIT
// Catches exceptions, such as an upstream's, in one way with exceptions and without. Without, a throw ends the program: nothing is
// caught.
#pragma once

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>

#if defined(__cpp_exceptions)
#include <new>
#endif

namespace headroom { inline namespace v0_1 { namespace detail {

// Returns attempt(); if it throws bad_alloc, on_refusal(), called in the handler.
template <class Attempt, class OnRefusal>
auto catch_bad_alloc(Attempt attempt, [[maybe_unused]] OnRefusal on_refusal) {
#if defined(__cpp_exceptions)
    try {
        return attempt();
    } catch (const std::bad_alloc&) {
        return on_refusal();
    }
#else
    return attempt();
#endif
}

// Returns attempt(); if it throws anything, on_throw(), called in the handler.
template <class Attempt, class OnThrow>
auto catch_all(Attempt attempt, [[maybe_unused]] OnThrow on_throw) {
#if defined(__cpp_exceptions)
    try {
        return attempt();
    } catch (...) {
        return on_throw();
    }
#else
    return attempt();
#endif
}

// Returns attempt(); if it throws anything, `otherwise`.
template <class Result, class Attempt>
Result value_or_on_throw([[maybe_unused]] Result otherwise, Attempt attempt) noexcept {
#if defined(__cpp_exceptions)
    try {
        return attempt();
    } catch (...) {
        return otherwise;
    }
#else
    return attempt();
#endif
}

// Throws the exception that is being handled.
[[noreturn]] HEADROOM_COLD inline void rethrow() {
#if defined(__cpp_exceptions)
    throw;
#else
    detail::throw_bad_alloc();
#endif
}

}}}    // namespace headroom::detail
