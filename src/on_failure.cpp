// SPDX-License-Identifier: MIT
// The handler of on_failure(), and what calls it. Empty with exceptions.
#include <headroom/on_failure.hpp>

#include "throwing.hpp"

#if !defined(__cpp_exceptions)

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace headroom { inline namespace v0_1 {
namespace {

constinit std::atomic<failure_handler> handler_in_use{nullptr};

const char* class_of(failure_kind kind) noexcept {
    switch (kind) {
        case failure_kind::bad_alloc: return "std::bad_alloc";
        case failure_kind::length_error: return "std::length_error";
        case failure_kind::out_of_range: return "std::out_of_range";
        case failure_kind::invalid_argument: return "std::invalid_argument";
        case failure_kind::system_error: return "std::system_error";
        case failure_kind::refused: return "headroom::refused";
        case failure_kind::file_error: return "headroom::file_error";
    }
    return "std::exception";
}

}    // namespace

failure_handler on_failure(failure_handler handler) noexcept { return handler_in_use.exchange(handler); }

namespace detail {

constinit std::atomic<void (*)() noexcept> unlock_before_handler{nullptr};

void call_failure_handler(failure_kind kind, const std::exception& what) {
    if (auto* const unlock = unlock_before_handler.load()) unlock();
    if (const failure_handler handler = handler_in_use.load()) handler(kind, what);
    std::fprintf(stderr, "%s, without exceptions: %s\n", class_of(kind), what.what());
    std::abort();
}

}    // namespace detail

}}    // namespace headroom

#endif
