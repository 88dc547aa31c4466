// SPDX-License-Identifier: MIT
// A reading as a table for a terminal.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "printable.hpp"
#include "show.hpp"

namespace headroom::tools::maps {
namespace {

// The columns that have a width of their own; a name gets what is left.
constexpr std::size_t widths_of_amounts = 1 + 8 + 1 + 9 + 1 + 8 + 1 + 7 + 1 + 4 + 1 + 6;
constexpr std::size_t width_of_count = 1 + 6, width_of_growth = 1 + 8, width_of_place = 1 + 12, width_of_kind = 1 + 7;
constexpr std::size_t least_name = 10;

struct row {
    std::string name;
    std::string first;    // how many, or where
    std::string access;
    std::string kind;
    amounts has;
};

const char* word_for(protection access) {
    switch (access) {
        case protection::none: return "none";
        case protection::read_only: return "read";
        case protection::read_write: break;
    }
    return "write";
}
const char* word_for(kind what) { return what == kind::file ? "file" : what == kind::open ? "open" : "guarded"; }

std::string shown_name(const std::string& name) { return name.empty() ? "(unnamed)" : printable(name); }

std::vector<row> rows_by_name(const reading& what) {
    struct group {
        amounts has;
        std::size_t count = 0;
        std::string access;
    };
    std::map<std::string, group> groups;
    std::vector<const std::string*> order;
    for (const live_range& each : what.ranges) {
        const auto [place, is_new] = groups.try_emplace(each.name);
        group& one = place->second;
        const char* const access = word_for(each.access);
        if (is_new) {
            order.push_back(&place->first);
            one.access = access;
        } else if (one.access != access) {
            one.access = "mixed";
        }
        one.has += each.has;
        ++one.count;
    }
    std::vector<row> rows;
    for (const std::string* const name : order) {
        const group& one = groups.at(*name);
        rows.push_back({shown_name(*name), std::to_string(one.count), one.access, "", one.has});
    }
    std::sort(rows.begin(), rows.end(), [](const row& a, const row& b) {
        const auto rank = [](const row& one) {
            return std::tuple(~(one.has.resident + one.has.swapped), ~one.has.committed, ~one.has.reserved);
        };
        return std::pair(rank(a), std::string_view(a.name)) < std::pair(rank(b), std::string_view(b.name));
    });
    return rows;
}

std::vector<row> rows_of_ranges(const reading& what) {
    std::vector<row> rows;
    for (const live_range& each : what.ranges) {
        char place[24];
        std::snprintf(place, sizeof place, "%012llx", static_cast<unsigned long long>(each.base));
        rows.push_back({shown_name(each.name), place, word_for(each.access), word_for(each.what), each.has});
    }
    return rows;
}

std::string short_growth(const std::optional<double>& growth) {
    if (!growth) return "";
    const std::string bytes = short_bytes(static_cast<std::uint64_t>(std::llround(std::fabs(*growth))));
    return bytes == "0" ? bytes : (*growth < 0 ? "-" : "+") + bytes;
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return "-";
    return std::to_string(static_cast<int>(100.0 * static_cast<double>(part) / static_cast<double>(whole) + 0.5)) + "%";
}

std::string fitted(const std::string& name, std::size_t width) { return shortened_to(name, width, ".."); }

class table_text {
public:
    table_text(const layout& how, std::size_t max_name_length) : how_(how) {
        std::size_t others =
            widths_of_amounts + (how.each ? width_of_place : width_of_count) + (how.growth ? width_of_growth : 0);
        with_kind_ = how.each && how.width >= others + width_of_kind + least_name;
        if (with_kind_) others += width_of_kind;
        const std::size_t room = how.width > others + least_name ? how.width - others : least_name;
        name_width_ = std::min(room, std::max(least_name, max_name_length));
    }
    void head() {
        add({"NAME", how_.each ? "ADDRESS" : "RANGES", "ACCESS", "KIND", {}}, "RESERVED", "COMMITTED", "RESIDENT", "SWAPPED",
            "HUGE", "GROWTH/s");
    }
    void add(const row& one) {
        add(one, short_bytes(one.has.reserved), short_bytes(one.has.committed), short_bytes(one.has.resident),
            short_bytes(one.has.swapped), share(one.has.huge, one.has.resident), short_growth(one.has.growth));
    }
    void add_without_committed(const row& one) {
        add(one, short_bytes(one.has.reserved), "-", short_bytes(one.has.resident), short_bytes(one.has.swapped),
            share(one.has.huge, one.has.resident), "");
    }
    void line(const std::string& text) { text_ += fitted(text, how_.width) + "\n"; }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    void add(const row& one, const std::string& reserved, const std::string& committed, const std::string& resident,
             const std::string& swapped, const std::string& huge, const std::string& growth) {
        std::string line = padded_to(fitted(one.name, name_width_), name_width_);
        const auto right = [&](const std::string& text, std::size_t width) {
            line.append(1 + (text.size() < width ? width - text.size() : 0), ' ');
            line += text;
        };
        right(one.first, how_.each ? width_of_place - 1 : width_of_count - 1);
        right(reserved, 8);
        right(committed, 9);
        right(resident, 8);
        right(swapped, 7);
        right(huge, 4);
        right(one.access, 6);
        if (with_kind_) right(one.kind, width_of_kind - 1);
        if (how_.growth) right(growth, width_of_growth - 1);
        line.erase(line.find_last_not_of(' ') + 1);
        text_ += line + "\n";
    }

    layout how_;
    bool with_kind_;
    std::size_t name_width_;
    std::string text_;
};

std::string title(const reading& what) {
    std::string text = words_for(what.id, what.command) + ", ";
    if (what.tables.size() > 1) text += std::to_string(what.tables.size()) + " copies of ";
    text += "Headroom";
    std::string last;
    for (const table& one : what.tables) {
        if (one.library != last) text += (last.empty() ? " " : ", ") + printable(one.library);
        last = one.library;
    }
    return text;
}

}    // namespace

std::string short_bytes(std::uint64_t bytes) {
    constexpr char units[] = {'B', 'K', 'M', 'G', 'T', 'P', 'E'};
    if (bytes == 0) return "0";
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    // (999.5 would be rounded to a fourth digit that 1,000 to 1,023 have anyway, and those fit.)
    for (; value >= 1023.5 && unit + 1 < sizeof units; ++unit) value /= 1024;
    char text[24];
    const int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    std::snprintf(text, sizeof text, "%.*f%c", digits, value, units[unit]);
    return text;
}

std::string text_of(const reading& what, const layout& how) {
    const std::vector<row> rows = how.each ? rows_of_ranges(what) : rows_by_name(what);
    const std::size_t shown =
        how.most_rows != 0 && rows.size() > how.most_rows ? std::max<std::size_t>(how.most_rows, 2) - 1 : rows.size();
    std::size_t longest = std::string("warm cache").size();
    for (const row& one : rows) longest = std::max(longest, width_of(one.name));
    table_text text(how, longest);
    text.line(title(what));
    for (const table& one : what.tables) {
        if (!one.unreadable.empty())
            text.line("not shown: Headroom " + printable(one.library) + " in " + printable(one.module) + ", " +
                      printable(one.unreadable));
    }
    text.head();
    for (std::size_t i = 0; i < shown; ++i) text.add(rows[i]);
    if (shown < rows.size()) text.line("and " + std::to_string(rows.size() - shown) + " more");
    text.add({"total", how.each ? "" : std::to_string(what.ranges.size()), "", "", what.live});
    text.add_without_committed({"warm cache", how.each ? "" : std::to_string(what.cached_ranges), "", "", what.cache});
    if (what.unsettled != 0) {
        text.line("not shown: " + std::to_string(what.unsettled) +
                  " that changed whenever they were read, or were being changed by a "
                  "thread that does not run");
    }
    return text.text();
}

}    // namespace headroom::tools::maps
