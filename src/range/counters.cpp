// SPDX-License-Identifier: MIT
// Implements counters.hpp and detail/range/counters.hpp.
#include "range/counters.hpp"

#include <algorithm>
#include <bit>

namespace headroom { inline namespace v0_1 { namespace detail {

constinit counters counts;

void add_bytes_copied(std::size_t bytes) noexcept { counts.bytes_copied.fetch_add(bytes, std::memory_order_relaxed); }

commit_clock::~commit_clock() {
    const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began_);
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(taken.count(), 1));
    const auto bucket = static_cast<std::size_t>(std::bit_width(nanoseconds)) - 1;
    counts.commit_times[std::min(bucket, counts.commit_times.size() - 1)].fetch_add(1, std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
