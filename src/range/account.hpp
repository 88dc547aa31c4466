// SPDX-License-Identifier: MIT
// Account of the memory in ranges: how much is in use, how much is idle, and how much may be idle.
//
// Memory is in use as far as owners have committed it. It is idle in kept ranges, and past the committed part of live ones, where an
// earlier owner left it. Bytes are counted from the moment they are committed, whether or not they were touched. A premapped range counts
// only what its earlier owner left.
#pragma once

#include <cstddef>

#include "range/control_block.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Counts the range with these bytes. Thread-safe for different ranges.
void set_account(locked_range control, std::size_t used, std::size_t idle) noexcept;
// Counts a live range as its extent says.
void update_account(locked_range control) noexcept;

// Begins a new period of recent_demand if the current one is over. Reads the clock. Any thread may call it.
void update_period() noexcept;

// Adds bytes that the cache released behind an owner, who now commits there.
void count_missed(std::size_t bytes) noexcept;

// How many bytes may be idle: the sum.
struct idle_budget {
    // As many as were released and then used again within the last period or two, because they will be wanted again, but not more than
    // bring the sum with the bytes in use to their recent peak; and 1/32 of that peak, at least 512 KiB.
    std::size_t regained;
    // As many as were missed within the last period or two, at most half of the bytes in use. Vectors that grow in turn come to memory that
    // others of them left only after a while.
    std::size_t missed;
};
// Returns the budget once `more` bytes are in use.
[[nodiscard]] idle_budget budget_with(std::size_t more) noexcept;

}}}    // namespace headroom::detail
