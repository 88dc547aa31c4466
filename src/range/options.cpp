// SPDX-License-Identifier: MIT
// Implements options.hpp.
#include "range/options.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <headroom/process_policy.hpp>
#include <headroom/reservation.hpp>

#include "range/cache.hpp"
#include "range/process_policy.hpp"
#include "system/admission.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// A part of HEADROOM_OPTIONS.
struct text {
    const char* begin;
    const char* end;

    [[nodiscard]] bool is(const char* word) const noexcept {
        const auto length = static_cast<std::size_t>(end - begin);
        return std::strlen(word) == length && std::memcmp(begin, word, length) == 0;
    }
};

// Returns the bytes that a text such as "64K" means, SIZE_MAX if they are more; nothing if it means none.
std::optional<std::size_t> bytes_in(text size) noexcept {
    unsigned shift = 0;
    if (size.begin != size.end) {
        static constexpr char units[] = "KMGT";
        if (const void* const unit = std::memchr(units, size.end[-1], sizeof units - 1)) {
            shift = 10 * static_cast<unsigned>(static_cast<const char*>(unit) - units + 1);
            --size.end;
        }
    }
    if (size.begin == size.end) return {};
    std::uint64_t bytes = 0;
    for (; size.begin != size.end; ++size.begin) {
        if (*size.begin < '0' || *size.begin > '9') return {};
        const auto digit = static_cast<std::uint64_t>(*size.begin - '0');
        bytes = bytes > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * bytes + digit;
    }
    return bytes > (SIZE_MAX >> shift) ? SIZE_MAX : static_cast<std::size_t>(bytes << shift);
}

// Stores one option in `policy`. False if name or value is unknown.
bool read_option(text name, text value, process_policy& policy) noexcept {
    if (name.is("huge_pages")) {
        const bool known = value.is("yes") || value.is("no");
        if (known) policy.huge_pages = value.is("yes");
        return known;
    }
    std::optional<std::size_t>* const size = name.is("largest_step")           ? &policy.largest_step
                                             : name.is("mapping_limit")        ? &policy.mapping_limit
                                             : name.is("cache_limit")          ? &policy.cache_limit
                                             : name.is("min_available_memory") ? &policy.min_available_memory
                                                                               : nullptr;
    if (size == nullptr) return false;
    const std::optional<std::size_t> bytes = bytes_in(value);
    if (bytes) *size = bytes;
    return bytes.has_value();
}

void complain(text option) noexcept {
    std::fprintf(
        stderr,
        "headroom: HEADROOM_OPTIONS has \"%.*s\"; it may have huge_pages=yes|no and largest_step, mapping_limit, cache_limit, "
        "min_available_memory=SIZE\n",
        static_cast<int>(std::min<std::ptrdiff_t>(option.end - option.begin, 80)), option.begin);
}

range_chain read_options(const char* options) noexcept {
    process_policy policy;
    for (const char* at = options; *at != '\0';) {
        const std::size_t length = std::strcspn(at, ",");
        const text option{at, at + length};
        const std::size_t name = std::strcspn(at, "=,");
        const char* const value = name < length ? at + name + 1 : option.end;
        if (length != 0 && !read_option({at, at + name}, {value, option.end}, policy)) complain(option);
        at = *option.end == ',' ? option.end + 1 : option.end;
    }
    allow_unless_set(policy);
    // The program may have set it before it reserved a range.
    if (policy.min_available_memory && !min_available_was_set.load(std::memory_order_relaxed) &&
        !set_min_available_memory(*policy.min_available_memory)) {
        std::fputs("headroom: HEADROOM_OPTIONS: the system does not say how much memory is available\n", stderr);
    }
    return policy.cache_limit ? limit_cache(std::min(*policy.cache_limit, SIZE_MAX - 1)) : range_chain();
}

}    // namespace

range_chain read_options_once() noexcept {
    static constinit std::atomic<std::uint32_t> read{0};    // not a bool, whose exchange is a library's call on some processors
    if (read.load(std::memory_order_relaxed) != 0 || read.exchange(1, std::memory_order_relaxed) != 0) return {};
    const errno_guard unchanged;
    const char* const options = environment_variable("HEADROOM_OPTIONS");
    return options != nullptr ? read_options(options) : range_chain();
}

constinit process_limits limits_of_process;

bool huge_pages_allowed() noexcept { return limits_of_process.huge_pages.load(std::memory_order_relaxed) != 0; }

}}}    // namespace headroom::detail
