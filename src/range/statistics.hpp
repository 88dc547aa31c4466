// The counters behind statistics().
#pragma once

#include <chrono>
#include <cstddef>

namespace headroom { inline namespace v0_1 { namespace detail {

void count_faults_avoided(std::size_t pages) noexcept;
void count_remapped(std::size_t bytes) noexcept;
void count_cache_miss() noexcept;    // (hits are counted in the ranges)

// Enters the time of one commit, all its system calls together, into the histogram.
class commit_clock {
public:
    commit_clock() noexcept : began_(std::chrono::steady_clock::now()) {}
    ~commit_clock();
    commit_clock(const commit_clock&) = delete;
    commit_clock& operator=(const commit_clock&) = delete;

private:
    std::chrono::steady_clock::time_point began_;
};

}}}    // namespace headroom::detail
