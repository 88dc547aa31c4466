// Counters of statistics().
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <headroom/detail/range/counters.hpp>
#include <headroom/reservation.hpp>

#include "component_api.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

using counter = std::atomic<std::uint64_t>;

// Hits are counted in the ranges, system calls in system/calls.hpp.
struct counters {
    counter faults_avoided{0};
    counter bytes_remapped{0};
    counter bytes_copied{0};
    counter cache_misses{0};
    std::array<counter, std::tuple_size_v<decltype(page_statistics::commit_times)>> commit_times{};
};
extern constinit counters counts;

// Adds the time of one commit, all its system calls together, to the histogram.
class commit_clock {
public:
    commit_clock() noexcept : began_(std::chrono::steady_clock::now()) {}
    HEADROOM_FOR_COMPONENTS ~commit_clock();
    commit_clock(const commit_clock&) = delete;
    commit_clock& operator=(const commit_clock&) = delete;

private:
    std::chrono::steady_clock::time_point began_;
};

}}}    // namespace headroom::detail
