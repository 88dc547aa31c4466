// SPDX-License-Identifier: MIT
// Linux: guards and names of pages.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <headroom/pages.hpp>

#include "system/linux.hpp"

// The C library's headers may be older than the kernel.
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

namespace headroom { inline namespace v0_1 {

std::error_code guard(page_range range) noexcept {
    const detail::errno_guard unchanged;
    if (detail::rejects_unknown_advice(range)) {
        const std::error_code error =
            detail::make_call(page_call::other, [=] { return madvise(range.data, range.bytes, MADV_GUARD_INSTALL); });
        if (!error) return {};
    }
    return protect(range, access::none);    // kernels before 6.13: a mapping of its own
}

std::error_code name(page_range range, const char* text) noexcept {
    char clean[80];
    if (text != nullptr) {
        std::size_t length = 0;
        for (; text[length] != '\0' && length < sizeof clean - 1; ++length) {
            const char c = text[length];
            // Replaces characters that the kernel refuses, because they would confuse readers of its list of mappings.
            clean[length] = c < ' ' || c > '~' || std::strchr("[]\\$`", c) != nullptr ? '_' : c;
        }
        clean[length] = '\0';
    }
    const std::error_code error = detail::make_call(page_call::other, [&] {
        // Not by prctl(): AddressSanitizer's wrapper reads the name, which may be null.
        return static_cast<int>(
            syscall(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, range.data, range.bytes, text != nullptr ? clean : nullptr));
    });
    if (error.value() == EINVAL) return detail::system_error(ENOSYS);
    return error;
}

}}    // namespace headroom
