// SPDX-License-Identifier: MIT
// statistics(): reads and resets the counters; and the bytes that the cache keeps.
#include <algorithm>
#include <atomic>

#include "range/counters.hpp"
#include "range/extent.hpp"
#include "range/registry.hpp"
#include "system/calls.hpp"

namespace headroom { inline namespace v0_1 { namespace detail { namespace {

constinit counter hits_before_reset{0};

// Returns how many requests kept ranges have served. Each range counts its own, so that threads do not share a counter.
std::uint64_t total_cache_hits() noexcept {
    std::uint64_t sum = 0;
    for (const range* each = first_of_all(); each != nullptr; each = each->identity.next_of_all) sum += each->cache.hits();
    return sum;
}

std::uint64_t value_of(const counter& from) noexcept { return from.load(std::memory_order_relaxed); }

}    // namespace
}}}    // namespace headroom::detail

namespace headroom { inline namespace v0_1 {

page_statistics statistics() noexcept {
    using namespace detail;
    page_statistics result;
    for (std::size_t i = 0; i < page_call_kinds; ++i) result.calls[i] = value_of(calls.made[i]);
    result.refusals = value_of(calls.refused);
    result.faults_avoided = value_of(counts.faults_avoided);
    result.bytes_remapped = value_of(counts.bytes_remapped);
    result.bytes_copied = value_of(counts.bytes_copied);
    result.cache_hits = total_cache_hits() - value_of(hits_before_reset);
    result.cache_misses = value_of(counts.cache_misses);
    for (std::size_t i = 0; i < counts.commit_times.size(); ++i) result.commit_times[i] = value_of(counts.commit_times[i]);
    return result;
}

std::size_t cached_bytes() noexcept {
    std::size_t bytes = 0;
    for (detail::range* each = detail::first_of_all(); each != nullptr; each = each->identity.next_of_all) {
        const detail::range_state state = each->identity.state.load(std::memory_order_acquire);
        if (state == detail::range_state::unused) continue;
        const std::size_t memory = each->extent.memory();
        const std::size_t in_use = state == detail::range_state::live ? each->extent.committed() : 0;
        bytes += memory - std::min(memory, in_use);
    }
    return bytes;
}

void reset_statistics() noexcept {
    using namespace detail;
    for (auto& each : calls.made) each.store(0, std::memory_order_relaxed);
    for (auto& each : counts.commit_times) each.store(0, std::memory_order_relaxed);
    for (counter* each :
         {&calls.refused, &counts.faults_avoided, &counts.bytes_remapped, &counts.bytes_copied, &counts.cache_misses})
        each->store(0, std::memory_order_relaxed);
    hits_before_reset.store(total_cache_hits(), std::memory_order_relaxed);
}

}}    // namespace headroom
