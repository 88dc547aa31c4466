// SPDX-License-Identifier: MIT
#include "reading.hpp"

#include <time.h>

#include <algorithm>
#include <tuple>

#include "printable.hpp"

namespace headroom::tools::maps {
namespace {

// A range while it is being looked at.
struct candidate {
    live_range range;
    block_state state = block_state::unused;
    std::size_t order = 0;    // in which it was looked at last
    [[nodiscard]] std::uint64_t end() const noexcept { return range.base + range.has.reserved; }
};

double seconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

candidate made_of(const block& from, std::size_t table) {
    candidate made;
    made.state = from.state;
    made.range.table = table;
    made.range.block = from.address;
    made.range.base = from.base;
    made.range.name = from.label;
    made.range.what = from.holding == 1 ? kind::open : kind::guarded;
    made.range.access = static_cast<protection>(from.access);
    made.range.has.reserved = from.reserved;
    made.range.has.committed = from.committed;
    return made;
}

std::vector<candidate> ranges_now(const process& from, const std::vector<table>& tables, patience& wait, std::size_t& unsettled) {
    std::vector<candidate> found;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (!tables[i].unreadable.empty()) continue;
        for (const block& each : read_blocks(from, tables[i], wait)) {
            if (each.settled) found.push_back(made_of(each, i));
            else ++unsettled;
        }
    }
    return found;
}

// Returns the candidates whose range still exists, read again after their memory was: so the figures belong to ranges that were
// there before and after. A range that was reused in between counts, since the memory is that of its addresses.
std::vector<candidate> those_still_there(const process& from, const std::vector<table>& tables,
                                         const std::vector<candidate>& before, patience& wait) {
    std::vector<candidate> found;
    for (const candidate& each : before) {
        const auto again = read_block(from, tables[each.range.table], each.range.block, wait);
        if (!again) throw process_changed("a range went away with its module");
        if (!again->settled || again->state == block_state::unused || again->base != each.range.base ||
            again->reserved != each.range.has.reserved)
            continue;
        found.push_back(made_of(*again, each.range.table));
        found.back().order = found.size();
    }
    // Two in one place: the second was made there when the first was gone, which was looked at too early.
    std::sort(found.begin(), found.end(), [](const candidate& a, const candidate& b) { return a.range.base < b.range.base; });
    std::vector<candidate> apart;
    for (candidate& each : found) {
        if (!apart.empty() && each.range.base < apart.back().end()) {
            if (each.order > apart.back().order) apart.back() = std::move(each);
            continue;
        }
        apart.push_back(std::move(each));
    }
    return apart;
}

// Gives the ranges the part of the mapping's memory that is theirs. `first` is the first that ends after the mapping begins.
void share_out(const process& from, const mapping& one, std::vector<candidate>& ranges, std::size_t first) {
    for (std::size_t i = first; i < ranges.size() && ranges[i].range.base < one.end; ++i) {
        live_range& range = ranges[i].range;
        const std::uint64_t start = std::max(one.start, range.base), end = std::min(one.end, ranges[i].end());
        if (start >= end) continue;
        if (one.inode != 0) {    // a file_vector's, which the system alone knows the rights to
            if (range.what != kind::file) range.access = protection::none;
            range.what = kind::file;
            const protection found = one.writable   ? protection::read_write
                                     : one.readable ? protection::read_only
                                                    : protection::none;
            range.access = std::max(range.access, found);    // (its first page is the header's, and closed)
        }
        if (one.resident == 0 && one.swapped == 0) continue;
        part_in_memory part{one.resident, one.swapped, one.huge, true};
        // The system makes one mapping of neighbours that are alike: how much of its memory is whose, it does not say.
        if (start != one.start || end != one.end) {
            part = from.in_memory(start, end);
            if (!part.huge_is_known && one.resident != 0) {
                part.huge = static_cast<std::uint64_t>(static_cast<double>(one.huge) * static_cast<double>(part.resident) /
                                                       static_cast<double>(one.resident));
            }
        }
        const std::uint64_t size = end - start;
        part.resident = std::min(part.resident, size);
        range.has.resident += part.resident;
        range.has.swapped += std::min(part.swapped, size - part.resident);
        range.has.huge += std::min(part.huge, part.resident);
    }
}

void look_at_memory(const process& from, const std::vector<mapping>& mappings, std::vector<candidate>& ranges) {
    std::size_t first = 0;
    for (const mapping& one : mappings) {
        while (first < ranges.size() && ranges[first].end() <= one.start) ++first;
        share_out(from, one, ranges, first);
    }
}

void add_up(reading& result, std::vector<candidate>& ranges) {
    for (candidate& each : ranges) {
        if (each.state == block_state::cached) {
            ++result.cached_ranges;
            result.cache += each.range.has;
        } else {
            result.live += each.range.has;
            result.ranges.push_back(std::move(each.range));
        }
    }
    std::sort(result.ranges.begin(), result.ranges.end(), [](const live_range& a, const live_range& b) {
        const auto rank = [](const live_range& one) {
            return std::tuple(~(one.has.resident + one.has.swapped), ~one.has.committed, ~one.has.reserved, one.base);
        };
        return rank(a) < rank(b);
    });
}

bool has_memory(const process& from, const std::vector<mapping>& mappings) {
    char byte = 0;
    return std::any_of(mappings.begin(), mappings.end(),
                       [&](const mapping& one) { return one.readable && from.read(one.start, &byte, sizeof byte); });
}

std::string unreadable_tables(const std::vector<table>& tables) {
    std::string text;
    for (const table& one : tables) {
        if (one.unreadable.empty()) return {};    // one that can be read is enough
        text += (text.empty() ? " cannot be read: " : "; ") + std::string("it contains Headroom ") + printable(one.library) +
                ", but " + one.unreadable;
    }
    return text;
}

reading read_once(process& from) {
    from.open_memory();
    reading result;
    result.id = from.id();
    result.command = from.command();
    const auto modules = from.mappings();
    if (modules.empty()) throw process_changed("its memory is gone");
    result.tables = find_tables(from, modules);
    const std::string why = result.tables.empty() ? " does not contain Headroom, or only a version of it that published no table"
                                                  : unreadable_tables(result.tables);
    if (!why.empty()) {
        // A memory that went away between two reads, since the process ran another program meanwhile, looks like one
        // without a table, or with a damaged one.
        if (!has_memory(from, modules)) throw process_changed("its memory is gone");
        throw problem(words_for(from.id(), result.command) + why);
    }
    result.time = seconds(CLOCK_REALTIME);
    result.moment = seconds(CLOCK_MONOTONIC);
    patience wait;
    const auto first = ranges_now(from, result.tables, wait, result.unsettled);
    const auto mappings = from.mappings_with_memory();
    auto ranges = those_still_there(from, result.tables, first, wait);
    look_at_memory(from, mappings, ranges);
    add_up(result, ranges);
    return result;
}

}    // namespace

amounts& amounts::operator+=(const amounts& other) {
    reserved += other.reserved;
    committed += other.committed;
    resident += other.resident;
    swapped += other.swapped;
    huge += other.huge;
    if (other.growth) growth = growth.value_or(0) + *other.growth;
    return *this;
}

reading read_ranges(process& from) {
    constexpr int most_tries = 5;
    for (int tries = 1;; ++tries) {
        const auto ended = [&] { return process_ended(words_for(from.id(), from.command()) + " ended while it was being read"); };
        try {
            return read_once(from);
        } catch (const process_ended&) {
            throw;
        } catch (const process_changed& change) {
            // It ended, or runs another program, or unloaded the module; or it is damaged.
            if (from.has_ended()) throw ended();
            if (tries == most_tries) throw problem(words_for(from.id(), from.command()) + " cannot be read: " + change.what());
        } catch (const problem&) {
            if (from.has_ended()) throw ended();
            // It may have been looked at while it began to run another program, when nothing of that was mapped yet.
            if (tries > 1) throw;
            constexpr timespec moment{0, 1'000'000};
            nanosleep(&moment, nullptr);
        }
    }
}

void compare(reading& now, const reading& before) {
    const double passed = now.moment - before.moment;
    if (passed <= 0) return;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> committed;
    for (const live_range& each : before.ranges) committed[{each.block, each.base}] = each.has.committed;
    for (live_range& each : now.ranges) {
        const auto found = committed.find({each.block, each.base});
        const std::uint64_t was = found == committed.end() ? 0 : found->second;
        each.has.growth = (static_cast<double>(each.has.committed) - static_cast<double>(was)) / passed;
    }
    now.live.growth = (static_cast<double>(now.live.committed) - static_cast<double>(before.live.committed)) / passed;
}

}    // namespace headroom::tools::maps
