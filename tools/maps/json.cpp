// SPDX-License-Identifier: MIT
// A reading as JSON: docs/watch-a-process.md says what stands in it.
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "printable.hpp"
#include "show.hpp"

namespace headroom::tools::maps {
namespace {

using nlohmann::ordered_json;

std::string hexadecimal(std::uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

ordered_json of_memory(const amounts& has) { return {{"resident", has.resident}, {"swapped", has.swapped}, {"huge", has.huge}}; }

void add_growth(ordered_json& to, const amounts& has) {
    if (has.growth) to["growth"] = std::llround(*has.growth);
}

const char* word_for(protection access) {
    return access == protection::none ? "none" : access == protection::read_only ? "read_only" : "read_write";
}
const char* word_for(kind what) { return what == kind::file ? "file" : what == kind::open ? "open" : "guarded"; }

}    // namespace

std::string json_of(const reading& what, bool one_line) {
    ordered_json all = {
        {"format", 1}, {"pid", what.id}, {"command", what.command}, {"time", std::round(what.time * 1000) / 1000}};
    for (ordered_json& copies = all["copies"] = ordered_json::array(); const table& one : what.tables) {
        ordered_json copy = {{"module", one.module}, {"library", one.library}, {"table", hexadecimal(one.address)}};
        if (!one.unreadable.empty()) copy["unreadable"] = one.unreadable;
        copies.push_back(std::move(copy));
    }
    for (ordered_json& ranges = all["ranges"] = ordered_json::array(); const live_range& one : what.ranges) {
        ordered_json range = {{"name", one.name},
                              {"base", hexadecimal(one.base)},
                              {"copy", one.table},
                              {"kind", word_for(one.what)},
                              {"access", word_for(one.access)},
                              {"reserved", one.has.reserved},
                              {"committed", one.has.committed}};
        range.update(of_memory(one.has));
        add_growth(range, one.has);
        ranges.push_back(std::move(range));
    }
    ordered_json& live =
        all["live"] = {{"ranges", what.ranges.size()}, {"reserved", what.live.reserved}, {"committed", what.live.committed}};
    live.update(of_memory(what.live));
    add_growth(live, what.live);
    ordered_json& cache = all["cache"] = {{"ranges", what.cached_ranges}, {"reserved", what.cache.reserved}};
    cache.update(of_memory(what.cache));
    all["unsettled"] = what.unsettled;
    // A name may be any bytes.
    return printable_json(all.dump(one_line ? -1 : 1, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n";
}

}    // namespace headroom::tools::maps
