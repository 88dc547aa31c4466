#include "range/statistics.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include <headroom/reservation.hpp>

#include "range/registry.hpp"
#include "system/calls.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

using counter = std::atomic<std::uint64_t>;

constinit counter faults_avoided{0};
constinit counter bytes_remapped{0};
constinit counter bytes_copied{0};
constinit counter hits_before_reset{0};
constinit counter cache_misses{0};
constinit std::array<counter, std::tuple_size_v<decltype(page_statistics::commit_times)>> commit_times{};

// Each range counts its own, so that threads do not meet in one counter.
std::uint64_t all_hits() noexcept {
    std::uint64_t sum = 0;
    for (const range* each = first_of_all(); each != nullptr; each = each->next_of_all)
        sum += each->hits.load(std::memory_order_relaxed);
    return sum;
}

void add(counter& to, std::uint64_t amount) noexcept { to.fetch_add(amount, std::memory_order_relaxed); }
std::uint64_t read(const counter& from) noexcept { return from.load(std::memory_order_relaxed); }

}    // namespace

void count_faults_avoided(std::size_t pages) noexcept { add(faults_avoided, pages); }
void count_remapped(std::size_t bytes) noexcept { add(bytes_remapped, bytes); }
void count_copied(std::size_t bytes) noexcept { add(bytes_copied, bytes); }
void count_cache_miss() noexcept { add(cache_misses, 1); }

commit_clock::~commit_clock() {
    const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began_);
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(taken.count(), 1));
    const auto bucket = static_cast<std::size_t>(std::bit_width(nanoseconds)) - 1;
    add(commit_times[std::min(bucket, commit_times.size() - 1)], 1);
}

}}}    // namespace headroom::detail

namespace headroom { inline namespace v0_1 {

page_statistics statistics() noexcept {
    using namespace detail;
    page_statistics result;
    for (std::size_t i = 0; i < page_call_kinds; ++i) result.calls[i] = read(calls.made[i]);
    result.refusals = read(calls.refused);
    result.faults_avoided = read(faults_avoided);
    result.bytes_remapped = read(bytes_remapped);
    result.bytes_copied = read(bytes_copied);
    result.cache_hits = all_hits() - read(hits_before_reset);
    result.cache_misses = read(cache_misses);
    for (std::size_t i = 0; i < commit_times.size(); ++i) result.commit_times[i] = read(commit_times[i]);
    return result;
}

void reset_statistics() noexcept {
    using namespace detail;
    for (auto& each : calls.made) each.store(0, std::memory_order_relaxed);
    for (auto& each : commit_times) each.store(0, std::memory_order_relaxed);
    for (counter* each : {&calls.refused, &faults_avoided, &bytes_remapped, &bytes_copied, &cache_misses})
        each->store(0, std::memory_order_relaxed);
    hits_before_reset.store(all_hits(), std::memory_order_relaxed);
}

}}    // namespace headroom
