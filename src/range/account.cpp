// SPDX-License-Identifier: MIT
// Account of the memory in ranges: implements account.hpp.
#include "range/account.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "range/extent.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

using account_clock = std::chrono::steady_clock;

constexpr account_clock::duration period = std::chrono::seconds(1);
constexpr std::size_t idle_fraction = 32;    // of the recent peak
constexpr std::size_t min_idle = std::size_t{512} << 10;
constexpr std::size_t max_missed_fraction = 2;    // of the bytes in use

std::size_t load_relaxed(const std::atomic<std::size_t>& from) noexcept { return from.load(std::memory_order_relaxed); }
void store_relaxed(std::atomic<std::size_t>& to, std::size_t value) noexcept { to.store(value, std::memory_order_relaxed); }

void raise_to(std::atomic<std::size_t>& to, std::size_t value) noexcept {
    std::size_t before = load_relaxed(to);
    while (before < value && !to.compare_exchange_weak(before, value, std::memory_order_relaxed)) {}
}

std::size_t recent_peak(const recent_demand& of) noexcept {
    return std::max(load_relaxed(of.peak), load_relaxed(of.previous_peak));
}

// Returns how much of what was released before is in use again with `used` bytes. Fields that another thread changes meanwhile make it
// inexact, not wrong.
std::size_t regained_with(const recent_demand& of, std::size_t used) noexcept {
    const std::size_t top = std::min(used, load_relaxed(of.high));
    return top - std::min(top, load_relaxed(of.low));
}

void update_demand(library_copy& home) noexcept {
    recent_demand& demand = home.demand;
    const std::size_t used = load_relaxed(home.used_bytes);
    raise_to(demand.peak, used);
    raise_to(demand.regained, regained_with(demand, used));
    if (used >= load_relaxed(demand.high)) {
        store_relaxed(demand.high, used);
        store_relaxed(demand.low, used);
    } else if (used < load_relaxed(demand.low)) {
        store_relaxed(demand.low, used);
    }
}

// Sets `counted`, which `total` includes. In this order, because another thread may fork in between: the child then counts too much, but
// never below zero.
void set_counted(std::atomic<std::size_t>& total, std::size_t& counted, std::size_t bytes) noexcept {
    const std::size_t more = bytes - counted;    // wraps if it is less, and so does the sum
    if (bytes < counted) {
        counted = bytes;
        total.fetch_add(more, std::memory_order_release);
    } else if (more != 0) {
        total.fetch_add(more, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        counted = bytes;
    }
}

}    // namespace

void set_account(locked_range control, std::size_t used, std::size_t idle) noexcept {
    library_copy& home = *control->creation.home;
    set_counted(home.idle_bytes, control->account.idle_, idle);
    if (used == control->account.used_) return;
    set_counted(home.used_bytes, control->account.used_, used);
    update_demand(home);
}

void update_account(locked_range control) noexcept {
    const std::size_t memory = control->extent.memory();
    const std::size_t used = std::min(memory, control->extent.committed());
    set_account(control, used, memory - used);
}

void update_period() noexcept {
    recent_demand& demand = this_copy.demand;
    const std::int64_t now = account_clock::now().time_since_epoch().count();
    std::int64_t start = demand.period_start.load(std::memory_order_relaxed);
    if (now - start <= period.count() || !demand.period_start.compare_exchange_strong(start, now, std::memory_order_relaxed))
        return;
    const std::size_t used = load_relaxed(this_copy.used_bytes);
    const bool long_ago = now - start > 2 * period.count();    // the previous period was another one
    store_relaxed(demand.previous_peak, long_ago ? used : load_relaxed(demand.peak));
    store_relaxed(demand.previous_regained, long_ago ? 0 : load_relaxed(demand.regained));
    store_relaxed(demand.previous_missed, long_ago ? 0 : load_relaxed(demand.missed));
    store_relaxed(demand.peak, used);
    store_relaxed(demand.regained, 0);
    store_relaxed(demand.missed, 0);
    store_relaxed(demand.high, recent_peak(demand));
    if (long_ago) store_relaxed(demand.low, used);
}

void count_missed(std::size_t bytes) noexcept { this_copy.demand.missed.fetch_add(bytes, std::memory_order_relaxed); }

idle_budget budget_with(std::size_t more) noexcept {
    const recent_demand& demand = this_copy.demand;
    const std::size_t used = load_relaxed(this_copy.used_bytes) + more;
    const std::size_t peak = std::max(used, recent_peak(demand));
    const std::size_t regained =
        std::max({load_relaxed(demand.regained), load_relaxed(demand.previous_regained), regained_with(demand, used)});
    const std::size_t missed = std::max(load_relaxed(demand.missed), load_relaxed(demand.previous_missed));
    return {std::min(regained, peak - used) + std::max(min_idle, peak / idle_fraction),
            std::min(missed, used / max_missed_fraction)};
}

}}}    // namespace headroom::detail
