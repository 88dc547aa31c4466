// SPDX-License-Identifier: MIT
// Page size and results of system calls, for Linux and other POSIX systems.
#include <unistd.h>

#include <atomic>

#include <headroom/pages.hpp>

#include "system/calls.hpp"
#include "system/platform.hpp"
#include "system/posix.hpp"

namespace headroom { inline namespace v0_1 {

std::error_code detail::out_of_memory() noexcept { return system_error(ENOMEM); }

std::size_t detail::real_page_size() noexcept {
    static constinit std::atomic<std::size_t> known{0};
    std::size_t bytes = known.load(std::memory_order_relaxed);
    if (bytes == 0) {
        bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        known.store(bytes, std::memory_order_relaxed);
    }
    return bytes;
}

std::error_code detail::call_result(int result, int refused_by_test, int before) noexcept {
    int error = refused_by_test;
    if (result != 0) {
        count_refusal();
        error = errno;
        errno = before;
    }
    return error == 0 ? std::error_code() : system_error(error);
}

std::size_t page_size() noexcept {
    const std::size_t overrides = detail::overridden_page_size();
    return overrides != 0 ? overrides : detail::real_page_size();
}

}}    // namespace headroom
