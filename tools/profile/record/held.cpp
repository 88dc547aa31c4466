// SPDX-License-Identifier: MIT
#include "held.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "recorder/ticks.hpp"
#include "trace/file.hpp"

namespace headroom::profile {
namespace {

namespace maps = tools::maps;

struct resident_bytes {
    std::uint64_t most = 0;         // so far
    std::uint64_t anonymous = 0;    // now
};
resident_bytes resident_of(pid_t process) {
    const file_pointer file = open_file("/proc/" + std::to_string(process) + "/status", "re");
    resident_bytes found;
    unsigned long long kib = 0;
    char line[256];
    while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
        if (std::sscanf(line, "VmHWM: %llu", &kib) == 1) found.most = kib * 1024;
        if (std::sscanf(line, "RssAnon: %llu", &kib) == 1) {    // comes after it
            found.anonymous = kib * 1024;
            break;
        }
    }
    return found;
}

}    // namespace

std::optional<std::uint64_t> held_ranges::look(std::uint64_t now) {
    if (now < next_) return std::nullopt;
    const resident_bytes resident = resident_of(pid_);
    most_resident_ = std::max(most_resident_, resident.most);
    most_anonymous_ = std::max(most_anonymous_, resident.anonymous);
    std::optional<std::uint64_t> bytes;
    try {
        // Libraries may be loaded later: looked for again and again, ever more seldom.
        if (tables_.empty() && now >= find_tables_) {
            if (!process_) process_ = std::make_unique<maps::process>(pid_);
            process_->open_memory();
            tables_ = maps::find_tables(*process_, process_->mappings());
            std::erase_if(tables_, [](const maps::table& one) { return !one.unreadable.empty(); });
            find_tables_ = now + patience_;
            patience_ = std::min<std::uint64_t>(patience_ * 2, 1'000'000'000);
        }
        if (!tables_.empty()) bytes = count();
    } catch (const maps::problem&) {    // it has ended, or runs another program, or may not be read
        tables_.clear();
    }
    const std::uint64_t took = monotonic_ns() - now;
    next_ = now + std::max<std::uint64_t>(5'000'000, took * 20);
    return bytes;
}

std::optional<std::uint64_t> held_ranges::count() {
    maps::patience wait{std::chrono::milliseconds(2)};
    std::uint64_t bytes = 0;
    for (const maps::table& table : tables_) {
        for (const maps::block& block : maps::read_blocks(*process_, table, wait)) {
            if (block.settled && block.state == maps::block_state::live) bytes += block.committed;
        }
    }
    return bytes;
}

}    // namespace headroom::profile
