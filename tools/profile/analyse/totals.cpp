// SPDX-License-Identifier: MIT
#include "totals.hpp"

#include <algorithm>
#include <bit>

#include "recorder/ring.hpp"
#include "trace/format.hpp"

namespace headroom::profile {

growth_sum& growth_sum::operator+=(const growth_sum& other) {
    count += other.count;
    bytes += other.bytes;
    ns += other.ns;
    longest_ns = std::max(longest_ns, other.longest_ns);
    interrupted += other.interrupted;
    room_bytes += other.room_bytes;
    return *this;
}

void block_sizes::add(std::uint64_t size, double weight) {
    if (counts.size() >= 256 && !counts.contains(size)) size = std::bit_ceil(std::max<std::uint64_t>(size, 1));
    counts[size] += weight;
}

void block_sizes::merge(const block_sizes& other) {
    for (const auto& [size, weight] : other.counts) add(size, weight);
}

void stack_totals::merge(const stack_totals& other) {
    allocations += other.allocations;
    bytes += other.bytes;
    live += other.live;
    live_bytes += other.live_bytes;
    most_live += other.most_live;    // an upper bound where the stacks peaked at different times
    most_live_bytes += other.most_live_bytes;
    frees += other.frees;
    frees_elsewhere += other.frees_elsewhere;
    reshared += other.reshared;
    near += other.near;
    far += other.far;
    timed_mallocs += other.timed_mallocs;
    timed_malloc_ns += other.timed_malloc_ns;
    timed_frees += other.timed_frees;
    timed_free_ns += other.timed_free_ns;
    for (std::size_t i = 0; i < lifetimes.size(); ++i) lifetimes[i] += other.lifetimes[i];
    sizes.merge(other.sizes);
    for (const auto& [thread, count] : other.threads) threads[thread] += count;
    for (std::size_t i = 0; i < growth.size(); ++i) growth[i] += other.growth[i];
    arrays += other.arrays;
    arrays_growths += other.arrays_growths;
    slack_bound += other.slack_bound;
    final_bytes += other.final_bytes;
    alive_at_end += other.alive_at_end;
    largest_final = std::max(largest_final, other.largest_final);
    final_sizes.merge(other.final_sizes);
    first_birth = std::min(first_birth, other.first_birth);
    last_birth = std::max(last_birth, other.last_birth);
    last_death = std::max(last_death, other.last_death);
}

growth_class classify(std::uint32_t flags, std::uint64_t old_size, std::uint64_t new_size) {
    if ((flags & grew_in_place) != 0) return growth_class::in_place;
    if ((flags & grew_by_realloc) != 0) return growth_class::moved;
    if ((flags & grew_adjacent) == 0) return growth_class::same_stack;
    if (static_cast<same_bytes>(flags & grew_same_bytes) == same_bytes::same) return growth_class::same_bytes;
    // A sampled pair has the old block's usable size, a little more than its requested size.
    const bool rounded = (flags & grew_old_unknown) != 0;
    const auto is = [&](std::uint64_t size) { return rounded ? size >= new_size && size <= new_size + 64 : size == new_size; };
    if (is(old_size * 2) || (old_size > 64 && is(old_size + old_size / 2))) return growth_class::doubled;
    return growth_class::adjacent;
}

void add_moment(std::vector<moment>& times, const moment& one) {
    if (times.size() >= 2048) {
        std::size_t kept = 0;
        for (std::size_t i = 1; i < times.size(); i += 2) times[kept++] = times[i];
        times.resize(kept);
    }
    times.push_back(one);
}

}    // namespace headroom::profile
