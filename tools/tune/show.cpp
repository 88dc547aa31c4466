#include "show.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <sstream>

#include <nlohmann/json.hpp>

#include "system.hpp"
#include "units.hpp"

namespace headroom::tools::tune {
namespace {

constexpr std::size_t columns = 80;

// Breaks text into lines between words; all but the first begin with `indent`.
std::string wrapped(const std::string& text, const std::string& first, const std::string& indent) {
    std::string result;
    std::string line = first;
    bool begun = false;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (begun && line.size() + 1 + word.size() > columns) {
            result += line + "\n";
            line = indent;
            begun = false;
        }
        line += (begun ? " " : "") + word;
        begun = true;
    }
    return result + line + "\n";
}

std::string cores_text(const costs& of) { return std::to_string(of.cores) + (of.cores == 1 ? " core" : " cores"); }

std::string pages_text(const costs& of) {
    std::string text = "pages of " + size_text(of.page) + ", ";
    if (of.huge_page == 0) return text + "no huge pages";
    text += "huge pages of " + size_text(of.huge_page);
    if (!of.huge_granted) return text;
    char share[48];
    std::snprintf(share, sizeof share, " (%.0f%% granted)", *of.huge_granted * 100);
    return text + share;
}

std::string busy_text(const costs& of) {
    char text[320];
    std::string others;
    if (of.others) {
        std::snprintf(text, sizeof text, "other programs used %.1f of %zu processors", *of.others, of.processors);
        others = text;
    }
    if (!of.busy()) return others.empty() ? "" : "The machine was quiet enough: " + others + ".";
    std::snprintf(text, sizeof text,
                  "The machine was busy: %s%sthis one waited for %.0f%% of its time. Medians hide most of that; a "
                  "run in a quiet hour is better.",
                  others.c_str(), others.empty() ? "" : ", ", of.waited * 100);
    return text;
}

// Processors and kernels name themselves: nothing of it may continue a comment or give orders to a terminal.
std::string plain(const std::string& text) {
    std::string result;
    for (const char letter : text) result += letter >= ' ' && letter <= '~' && letter != '\\' && letter != '?' ? letter : '_';
    return result;
}

std::string row(const figure& one, std::size_t page) {
    char text[160];
    const std::string size = size_text(one.bytes);
    if (!one.missing.empty()) {
        std::snprintf(text, sizeof text, "%-24s %9s  ", one.what.c_str(), size.c_str());
        return wrapped("not measured: " + one.missing, text, std::string(36, ' '));
    }
    const double pages = static_cast<double>(one.bytes) / static_cast<double>(page);
    const double spread = one.seconds > 0 ? (one.high - one.low) / 2 / one.seconds * 100 : 0;
    // What a call costs that provides no memory says nothing of a page.
    const bool by_page = one.what != range_cold && one.what != range_warm && one.what != commit_only;
    std::snprintf(text, sizeof text, "%-24s %9s  %10s  %11s  %8s\n", one.what.c_str(), size.c_str(),
                  time_text(one.seconds).c_str(), by_page ? time_text(one.seconds / pages).c_str() : "",
                  ("+-" + std::to_string(static_cast<int>(std::lround(std::min(spread, 999.0)))) + "%").c_str());
    return text;
}

}    // namespace

occasion here_and_now() {
    const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
    char text[48];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()));
    return {HEADROOM_TUNE_VERSION, processor_name(), kernel_name(), text};
}

std::string table_text(const occasion& when, const costs& measured, const advice& found) {
    std::string result = wrapped(
        plain(when.processor) + ", " + cores_text(measured) + ", " + plain(when.kernel) + ", " + pages_text(measured), "", "  ");
    char head[160];
    std::snprintf(head, sizeof head, "\n%-24s %9s  %10s  %11s  %8s\n", "what", "size", "time", "for a page", "spread");
    result += head;
    for (const figure& one : measured.figures) result += row(one, measured.page);
    result +=
        wrapped(std::to_string(measured.rounds) + " rounds; medians, and half the distance between the quartiles.", "\n", "");
    if (const std::string busy = busy_text(measured); !busy.empty()) result += wrapped(busy, "", "");
    result += "\nThe policy that follows" + std::string(found.is_default() ? ": the default suits this machine\n" : "\n");
    result += wrapped(code_of(found.commit), "  commit         ", std::string(17, ' '));
    result += wrapped(found.because, std::string(17, ' '), std::string(17, ' '));
    result += wrapped(size_text(found.map_threshold), "  map_threshold  ", std::string(17, ' '));
    result += wrapped(found.threshold_because, std::string(17, ' '), std::string(17, ' '));
    if (!found.notes.empty()) result += "\nFor information\n";
    for (const std::string& note : found.notes) result += wrapped(note, "  - ", "    ");
    return result;
}

std::string json_text(const occasion& when, const costs& measured, const advice& found) {
    using json = nlohmann::ordered_json;
    json figures = json::array();
    for (const figure& one : measured.figures) {
        json entry{{"what", one.what}, {"bytes", one.bytes}};
        if (one.missing.empty()) {
            entry["seconds"] = one.seconds;
            entry["low"] = one.low;
            entry["high"] = one.high;
            entry["rounds"] = one.rounds;
        } else {
            entry["missing"] = one.missing;
        }
        figures.push_back(std::move(entry));
    }
    json result{{"v", 1},
                {"headroom", when.version},
                {"date", when.date},
                {"machine",
                 {{"processor", when.processor},
                  {"kernel", when.kernel},
                  {"cores", measured.cores},
                  {"page_size", measured.page},
                  {"huge_page_size", measured.huge_page},
                  {"huge_pages_granted", measured.huge_granted ? json(*measured.huge_granted) : json(nullptr)}}},
                {"busy",
                 {{"busy", measured.busy()},
                  {"others", measured.others ? json(*measured.others) : json(nullptr)},
                  {"processors", measured.others ? json(measured.processors) : json(nullptr)},
                  {"waited", measured.waited}}},
                {"rounds", measured.rounds},
                {"costs", std::move(figures)},
                {"policy",
                 {{"rule", found.rule},
                  {"commit", code_of(found.commit)},
                  {"because", found.because},
                  {"map_threshold", found.map_threshold},
                  {"map_threshold_because", found.threshold_because},
                  {"default", found.is_default()}}},
                {"remap_crossing", remap_crossing(measured)},
                {"notes", found.notes}};
    return result.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string header_text(const occasion& when, const costs& measured, const advice& found) {
    std::string text = wrapped("How Headroom's containers should grow on one machine. Written by headroom tune " + when.version +
                                   " on " + when.date + "; make it anew for another machine, kernel or version.",
                               "// ", "// ");
    text += "//\n" + wrapped(plain(when.processor) + ", " + cores_text(measured), "//   machine  ", "//            ");
    text += wrapped(plain(when.kernel) + ", " + pages_text(measured), "//   system   ", "//            ");
    text += wrapped(found.because, "//   commit   ", "//            ");
    text += wrapped(found.threshold_because, "//   range    ", "//            ");
    if (measured.busy()) text += "//   (The machine was busy while it was measured.)\n";
    if (found.is_default()) text += "//\n// These are the library's own defaults.\n";
    text +=
        "//\n"
        "//     headroom::settled_vector<int, tuned::settled_policy> numbers;\n"
        "//     headroom::vector<int, std::allocator<int>, tuned::vector_policy> others;\n"
        "//     headroom::reservation range(bytes, tuned::commit);    // arenas too\n"
        "#pragma once\n\n"
        "#include <cstddef>\n\n"
        "#include <headroom/commit_policy.hpp>\n"
        "#include <headroom/settled_vector.hpp>\n"
        "#include <headroom/vector.hpp>\n\n";
    const std::string minor = when.version.substr(0, when.version.rfind('.'));
    const std::size_t dot = minor.find('.');
    text += "static_assert(HEADROOM_VERSION_MAJOR == " + minor.substr(0, dot) +
            " && HEADROOM_VERSION_MINOR == " + minor.substr(dot + 1) + ",\n              \"this header was made for Headroom " +
            minor + ": run headroom tune --header again\");\n\n";
    text += "namespace tuned {\n\ninline constexpr headroom::commit_policy commit = " + code_of(found.commit) + ";\n\n";
    text +=
        "struct settled_policy : headroom::settled_policy {\n"
        "    static constexpr headroom::commit_policy commit = tuned::commit;\n"
        "};\n\n"
        "struct vector_policy : headroom::vector_policy {\n"
        "    static constexpr std::size_t map_threshold = " +
        std::to_string(found.map_threshold) +
        ";\n"
        "    static constexpr headroom::commit_policy commit = tuned::commit;\n"
        "};\n\n"
        "}    // namespace tuned\n";
    return text;
}

}    // namespace headroom::tools::tune
