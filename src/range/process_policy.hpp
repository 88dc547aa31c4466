// SPDX-License-Identifier: MIT
// What the process allows all ranges; see headroom/process_policy.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/commit_policy.hpp>
#include <headroom/process_policy.hpp>

#include "component_api.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

struct process_limits {
    std::atomic<std::uint32_t> huge_pages{1};    // 0: none
    std::atomic<std::size_t> largest_step{SIZE_MAX};
    std::atomic<std::size_t> mappings{0};    // 0: not set
};
extern process_limits limits_of_process;    // of the core: a component that named it would not link

// The limit as it is stored: one mapping is as few as none, which means "not set" there.
[[nodiscard]] constexpr std::size_t stored_mapping_limit(std::size_t mappings) noexcept { return mappings != 0 ? mappings : 1; }

// Stores the fields that have a value and are stored here: all but the limits of the cache and of available memory.
inline void allow(const process_policy& policy) noexcept {
    if (policy.huge_pages) limits_of_process.huge_pages.store(*policy.huge_pages ? 1 : 0, std::memory_order_relaxed);
    if (policy.largest_step) limits_of_process.largest_step.store(*policy.largest_step, std::memory_order_relaxed);
    if (policy.mapping_limit)
        limits_of_process.mappings.store(stored_mapping_limit(*policy.mapping_limit), std::memory_order_relaxed);
}

// The same for fields that nobody has set yet: another thread may set one meanwhile.
inline void allow_unless_set(const process_policy& policy) noexcept {
    std::uint32_t yes = 1;
    std::size_t any = SIZE_MAX, none = 0;
    if (policy.huge_pages) limits_of_process.huge_pages.compare_exchange_strong(yes, *policy.huge_pages ? 1 : 0);
    if (policy.largest_step) limits_of_process.largest_step.compare_exchange_strong(any, *policy.largest_step);
    if (policy.mapping_limit)
        limits_of_process.mappings.compare_exchange_strong(none, stored_mapping_limit(*policy.mapping_limit));
}

// False if no range may ask for huge pages.
[[nodiscard]] HEADROOM_FOR_COMPONENTS bool huge_pages_allowed() noexcept;

// True if ranges of that policy want none, even where the system gives them unasked.
[[nodiscard]] inline bool declines_huge_pages(const commit_policy& policy) noexcept {
    const commit_policy::kind kind = policy.which();
    return kind == commit_policy::kind::page_by_page || kind == commit_policy::kind::stepped || !huge_pages_allowed();
}

// Bytes that may be committed at a time beyond those that are needed.
[[nodiscard]] inline std::size_t largest_step() noexcept {
    return limits_of_process.largest_step.load(std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
