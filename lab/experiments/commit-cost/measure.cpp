// SPDX-License-Identifier: MIT
// Question: how long does each kind of system call take that growing in place makes, by the number of pages?
//
// Source: "Reserve and commit", the DTrace part of Latency.
// Method of the document: traced VirtualAlloc, which commits one page, next to the appends, and found that the outliers of
//   the one are the outliers of the other.
// Method here, and why: no tracing, which slows the traced calls; each call of headroom/pages.hpp is timed by the
//   cycle counter at 1 ... 4096 pages. The contenders are the calls:
//     reserve, release          address space for that number of pages, and back
//     commit                    make reserved pages usable; no memory is provided yet
//     populate                  have the memory of committed pages provided in one call
//     first_touch               write one byte to each committed page instead
//     decommit                  give the memory of used pages back, and make them inaccessible
//     remap                     move used pages to another place by page tables
//   A sample is one call (first_touch: one run over the pages). At least 50 samples, up to 20,000 or 0.15 s.
//   Only ordinary pages are used. To see outliers meet, lay this beside experiment `latency`.
// Disadvantages: none; it compares calls, not containers. Memory that the system has just taken back is the first
//   it hands out again, so populate and first_touch find the processor's caches warmer than a long-lived program would.
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "engine/experiment.hpp"
#include "workloads/distribution.hpp"

#include <headroom/pages.hpp>

namespace headroom::lab { namespace {

enum class call { reserve, release, commit, populate, first_touch, decommit, remap };

void require(std::error_code error, const char* what) {
    if (error == std::errc::function_not_supported) throw cannot_run(std::string(what) + ": this system has no such call");
    if (error) throw std::system_error(error, what);
}

page_range reserved(std::size_t bytes) {
    std::error_code error;
    const page_range range = headroom::reserve(bytes, page_size(), error);
    require(error, "reserve");
    return range;
}

void touch(page_range range) {
    for (std::size_t at = 0; at < range.bytes; at += page_size()) {
        *const_cast<volatile std::byte*>(range.data + at) = std::byte{1};
    }
}

// A stretch of address space, used up step by step and then replaced, so that every step meets fresh pages.
class stretch {
public:
    explicit stretch(std::size_t step) : step_(step), whole_{nullptr, step * steps(step)} {}
    stretch(const stretch&) = delete;
    stretch& operator=(const stretch&) = delete;
    ~stretch() { drop(); }

    [[nodiscard]] page_range next(bool committed) {
        if (whole_.data == nullptr || used_ == whole_.bytes) {
            drop();
            whole_ = reserved(step_ * steps(step_));
            used_ = 0;
            advise_huge(whole_, false);    // best effort: fails where huge pages are off, which changes nothing
            if (committed) require(commit(whole_), "commit");
        }
        const page_range range{whole_.data + used_, step_};
        used_ += step_;
        return range;
    }

private:
    // Enough steps to fill 64 MiB, but at least two.
    static std::size_t steps(std::size_t step) {
        const std::size_t fit = (std::size_t{64} << 20) / step;
        return fit < 2 ? 2 : fit;
    }
    void drop() {
        if (whole_.data != nullptr) release(whole_);
        whole_.data = nullptr;
    }

    std::size_t step_;
    page_range whole_;
    std::size_t used_ = 0;
};

// Calls sample() until there are enough; it adds its own ticks.
template <class Sample>
void repeat(histogram& ticks, Sample sample) {
    const stopwatch::time_point begin = stopwatch::now();
    while (ticks.samples() < 50 || (ticks.samples() < 20'000 && seconds_between(begin, stopwatch::now()) < 0.15)) sample();
}

template <class Timed>
void timed(histogram& ticks, Timed call_it) {
    const std::uint64_t begin = ticks_begin();
    call_it();
    const std::uint64_t end = ticks_end();
    ticks.add(end - begin);
}

histogram measure(call which, std::size_t bytes) {
    histogram ticks;
    if (which == call::reserve || which == call::release) {
        repeat(ticks, [&] {
            page_range range;
            if (which == call::reserve) {
                timed(ticks, [&] { range = reserved(bytes); });
                require(release(range), "release");
            } else {
                range = reserved(bytes);
                timed(ticks, [&] { require(release(range), "release"); });
            }
        });
        return ticks;
    }
    if (which == call::remap) {
        stretch from(bytes);
        stretch to(bytes);
        repeat(ticks, [&] {
            const page_range source = from.next(true);
            const page_range target = to.next(true);
            touch(source);
            timed(ticks, [&] { require(remap(source, target), "remap"); });
        });
        return ticks;
    }
    stretch pages(bytes);
    repeat(ticks, [&] {
        const page_range range = pages.next(which != call::commit);
        switch (which) {
            case call::commit: timed(ticks, [&] { require(commit(range), "commit"); }); break;
            case call::populate: timed(ticks, [&] { require(prefault(range), "populate"); }); break;
            case call::first_touch: timed(ticks, [&] { touch(range); }); break;
            default: touch(range); timed(ticks, [&] { require(decommit(range), "decommit"); });
        }
    });
    return ticks;
}

contender call_contender(const char* id, call which) {
    return {id, HEADROOM_LAB_VERSION, "", [which](const parameters& point) {
                metrics result;
                const tick_scale scale;
                const std::size_t pages = point.count("pages");
                const histogram ticks = measure(which, pages * page_size());
                describe(result, "call", ticks, scale);
                result["time"] = result["call_p50"];
                result["time_per_page"] = {"s", {result["call_p50"].values[0] / static_cast<double>(pages)}};
                return result;
            }};
}

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    for (std::int64_t pages = 1; pages <= 4096; pages *= size == grid_size::quick ? 8 : 2) {
        configuration one;
        one.parameters = {{"pages", pages}};
        one.seconds = 0.1;
        one.memory = 200e6;
        one.rounds = size == grid_size::quick ? 1 : size == grid_size::full ? 3 : 2;
        result.push_back(std::move(one));
    }
    return result;
}

experiment commit_cost() {
    return {.id = "commit-cost",
            .question = "How long does each system call take that growing in place makes?",
            .source = "Reserve and commit",
            .contenders = {call_contender("reserve", call::reserve), call_contender("release", call::release),
                           call_contender("commit", call::commit), call_contender("populate", call::populate),
                           call_contender("first_touch", call::first_touch), call_contender("decommit", call::decommit),
                           call_contender("remap", call::remap)},
            .grid = grid,
            .check = nullptr,
            .place = 60};
}

const registered_experiment registered(commit_cost);

}    // namespace
}    // namespace headroom::lab
