// Declarations shared by the files for Linux and other POSIX systems.
#pragma once

#include <cerrno>
#include <cstddef>
#include <system_error>

#include <headroom/pages.hpp>

#include "system/calls.hpp"
#include "system/unmap_queue.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

[[nodiscard]] inline std::error_code system_error(int error) noexcept { return {error, std::system_category()}; }

// Returns the error of a call that returns 0 or sets errno; restores errno to `before`. Not in make_call(), which is instantiated often.
[[nodiscard]] std::error_code call_result(int result, int refused_by_test, int before) noexcept;

// Makes a system call that returns 0 or sets errno, unless a test refuses it. Returns its error.
template <class Call>
[[nodiscard]] std::error_code make_call(page_call kind, Call call) noexcept {
    const int before = errno;
    const int refused = intercept(kind);
    return call_result(refused == 0 ? call() : 0, refused, before);
}

// Unmaps what of `mapped`, a whole mapping, lies outside of the first `bytes` at a multiple of `alignment`. Returns these. If the system
// refuses, sets `error`, queues the rest of the mapping to be unmapped, and returns an empty range.
[[nodiscard]] inline page_range trim_to_aligned(page_range mapped, std::size_t bytes, std::size_t alignment,
                                                std::error_code& error) noexcept {
    const page_range kept{aligned_within(mapped, alignment), bytes};
    const auto before = static_cast<std::size_t>(kept.data - mapped.data);
    // The end goes first: if the system refuses the start, one mapping is left, which can be released whole.
    error = release({kept.data + bytes, mapped.bytes - before - bytes});
    if (!error) {
        mapped.bytes = before + bytes;
        error = release({mapped.data, before});
    }
    if (!error) return kept;
    unmap_or_queue(mapped);
    return {};
}

// Returns the page size without overrides of tests.
[[nodiscard]] std::size_t real_page_size() noexcept;

}}}    // namespace headroom::detail
