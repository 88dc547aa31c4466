// SPDX-License-Identifier: MIT
// The records that end a process: what is known of it as a whole.
#include <algorithm>

#include "digest.hpp"
#include "preload/program.hpp"
#include "recorder/ticks.hpp"

namespace headroom::profile {
namespace {

// Returns what reading the counter adds to what is timed by it.
double clock_read_ns() {
    std::uint64_t least = ~std::uint64_t{0};
    const std::uint64_t ns_before = monotonic_ns();
    const std::uint64_t ticks_before = ticks();
    for (int i = 0; i < 10000; ++i) {
        const std::uint64_t before = ticks();
        least = std::min(least, ticks() - before);
    }
    const auto all = static_cast<double>(ticks() - ticks_before);
    return all > 0 ? static_cast<double>(least) * static_cast<double>(monotonic_ns() - ns_before) / all : 0;
}

}    // namespace

void digest::end(const process_end& how, const ring& from, const std::function<void()>& write) {
    for (thread_t& each : threads_) write_growth(each);
    live_.each([&](const live_block& block) {
        if (block.chain != 0) died(record::alive, block, newest_);
        if (out_->size() >= block_size) write();
    });
    const double read_ns = clock_read_ns();
    for (const site_t& site : sites_) {
        if (site.timed[0].count + site.timed[1].count != 0) {
            out_->begin(record::call_times);
            out_->number(site.stack);
            for (const auto& timed : site.timed) {
                const auto count = static_cast<double>(timed.count);
                out_->number(timed.count);
                out_->number(
                    static_cast<std::uint64_t>(std::max(0.0, static_cast<double>(timed.ticks) * ns_per_tick_ - count * read_ns)));
            }
        }
        if (site.near + site.far == 0) continue;
        out_->begin(record::nearness);
        out_->number(site.stack);
        out_->number(site.near);
        out_->number(site.far);
    }
    if (how.lost != 0) {
        out_->begin(record::lost);
        out_->number(how.lost);
    }
    const double own = ns_per_tick_ * timed_calls *
                       static_cast<double>(from.mallocs.recorder_ticks.load() + from.reallocs.recorder_ticks.load() +
                                           from.frees.recorder_ticks.load());
    const auto average_ps = [&](const call_costs& of) {
        const auto count = static_cast<double>(of.count.load());
        const double ns = count > 0 ? static_cast<double>(of.ticks.load()) / count * ns_per_tick_ - read_ns : 0;
        return static_cast<std::uint64_t>(std::max(0.0, ns) * 1000);
    };
    // Estimates the recorder's memory in the process: the ring, and about a page for each stack.
    const std::uint64_t kept = std::min<std::uint64_t>(from.reserved.load(), ring_slots) * sizeof(slot) +
                               std::min<std::uint64_t>(sites_.size(), 2048) * 4096;
    out_->begin(record::costs);
    out_->number(how.processor_ns);
    out_->number(static_cast<std::uint64_t>(own));
    out_->number(average_ps(from.mallocs));
    out_->number(average_ps(from.frees));
    out_->number(how.resident > kept ? how.resident - kept : how.resident);
    // Of the recorder's tables some 1.5 MiB are no stacks'.
    const std::uint64_t own_anonymous = std::min<std::uint64_t>(sites_.size(), 2048) * 4096 + (std::uint64_t{3} << 19);
    out_->begin(record::program);
    out_->number(how.anonymous > own_anonymous ? how.anonymous - own_anonymous : how.anonymous);
    out_->number(static_bytes(facts_.path));
    out_->number(program_flags_);
    write_unseen(how.unseen);
    out_->begin(record::ended);
    out_->number(static_cast<std::uint64_t>(static_cast<double>(newest_ - start_) / ticks_per_us_));
}

}    // namespace headroom::profile
