// SPDX-License-Identifier: MIT
// One HTML file, made by hand: boxes placed in percent, so that it fits any width, and colours that follow the
// reader's.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "printable.hpp"
#include "show.hpp"

namespace headroom::profile {
namespace {

std::string escaped(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            default: result += letter;
        }
    }
    return result;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", value);
    return text;
}

constexpr const char* style = R"(
:root{color-scheme:light dark;--ink:#1d2733;--soft:#5b6875;--line:#d5dbe1;--paper:#fff;--card:#f5f7f9;--live:#2f6fb5;
--copied:#c2571a;--flame:#f2c9a8;--flame2:#f7dcc4;--good:#1e7d46}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--soft:#9aa7b4;--line:#37424d;--paper:#14191f;--card:#1c232b;
--live:#7fb2ea;--copied:#f0a06a;--flame:#7a4522;--flame2:#5f3a20;--good:#6fcf97}}
*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);
margin:0 auto;max-width:1100px;padding:1rem}
h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}p{margin:.5rem 0;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.numbers{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;margin:1rem 0}
.numbers div{background:var(--card);border-radius:.4rem;padding:.5rem .8rem}.numbers b{display:block;font-size:1.2rem}
svg{width:100%;height:auto;display:block}svg text{font:12px system-ui,sans-serif;fill:var(--soft)}
.flame{position:relative;width:100%;overflow:hidden}.flame div{position:absolute;height:20px;
font:12px/18px system-ui,sans-serif;white-space:nowrap;overflow:hidden;padding:0 3px;border:1px solid var(--paper);
background:var(--flame);border-radius:2px;color:var(--ink)}
.flame div.odd{background:var(--flame2)}.flame div:hover{outline:2px solid var(--copied)}
.site{border:1px solid var(--line);border-radius:.5rem;padding:.6rem .9rem;margin:.7rem 0}
.site h3{font-size:1rem;margin:0;overflow-wrap:anywhere}.site .what{color:var(--good);font-weight:600}
pre{background:var(--card);padding:.5rem .7rem;border-radius:.4rem;overflow-x:auto;font-size:.85rem;margin:.5rem 0}
pre b{color:var(--copied)}
.five{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.3rem 1rem;font-size:.85rem;
margin:.5rem 0}
.bar{height:.5rem;background:var(--line);border-radius:.25rem}.bar i{display:block;height:100%;background:var(--live);
border-radius:.25rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}td,th{text-align:left;padding:.25rem .6rem .25rem 0;
border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
td.n,th.n{text-align:right;white-space:nowrap}.scroll{overflow-x:auto}details summary{cursor:pointer}
)";

// Live bytes as an area, bytes copied so far as a line, over the seconds of the run.
std::string time_line(const profile_result& profile) {
    constexpr double width = 1000;
    constexpr double height = 192;
    constexpr double bottom = 190;
    double most_live = 1;
    double most_copied = 1;
    for (const moment& one : profile.times) {
        most_live = std::max(most_live, one.live_bytes);
        most_copied = std::max(most_copied, one.copied);
    }
    const double seconds = std::max(1e-9, profile.times.back().seconds);
    std::string area = "M0," + number(bottom);
    std::string line;
    for (const moment& one : profile.times) {
        const std::string x = number(one.seconds / seconds * width);
        area += " L" + x + "," + number(bottom - one.live_bytes / most_live * (bottom - 20));
        line += (line.empty() ? "M" : " L") + x + "," + number(bottom - one.copied / most_copied * (bottom - 20));
    }
    area += " L" + number(width) + "," + number(bottom) + " Z";
    return "<p class=\"soft\">Blue: in use, up to " + bytes_text(most_live) +
           ". Orange: copied by what grew or looked like it, " + bytes_text(most_copied) + " in all. " +
           time_text(seconds * 1e9) + " from left to right.</p>\n<svg viewBox=\"0 0 " + number(width) + " " + number(height) +
           "\" role=\"img\" aria-label=\"Memory in use and bytes copied over time\"><path d=\"" + area +
           "\" fill=\"var(--live)\" fill-opacity=\".35\" stroke=\"var(--live)\"/><path d=\"" + line +
           "\" fill=\"none\" stroke=\"var(--copied)\" stroke-width=\"2\"/></svg>\n";
}

struct flame_node {
    double bytes = 0;
    std::map<std::string, std::unique_ptr<flame_node>> callees;
};

void draw(const flame_node& node, double left, double all, std::size_t depth, std::string& out, std::size_t& deepest) {
    for (const auto& [name, callee] : node.callees) {
        const double share = callee->bytes / all * 100;
        if (share < 0.15) {
            left += share;
            continue;
        }
        deepest = std::max(deepest, depth + 1);
        const std::string words = escaped(name) + ": " + bytes_text(callee->bytes) + " copied";
        out += std::string("<div") + (depth % 2 == 1 ? " class=\"odd\"" : "") + " style=\"left:" + number(left) +
               "%;width:" + number(share) + "%;top:" + std::to_string(depth * 21) + "px\" title=\"" + words + "\">" +
               (share > 2 ? escaped(name) : "") + "</div>\n";
        draw(*callee, left, all, depth + 1, out, deepest);
        left += share;
    }
}

std::string flame_graph(const profile_result& profile) {
    flame_node root;
    for (const site& one : profile.sites) {
        for (const stack_share& stack : one.stacks) {
            if (stack.copied <= 0) continue;
            root.bytes += stack.copied;
            flame_node* at = &root;
            std::size_t depth = 0;
            for (const std::string_view frame : stack.frames) {
                if (frame == "_start" || frame.compare(0, 6, "__libc") == 0 || frame == "operator new" || ++depth > 60) continue;
                std::unique_ptr<flame_node>& next = at->callees[std::string(frame)];
                if (!next) next = std::make_unique<flame_node>();
                next->bytes += stack.copied;
                at = next.get();
            }
        }
    }
    std::string boxes;
    std::size_t deepest = 0;
    draw(root, 0, std::max(root.bytes, 1.0), 0, boxes, deepest);
    return "<div class=\"flame\" style=\"height:" + std::to_string(deepest * 21 + 2) + "px\">\n" + boxes + "</div>\n";
}

// A few lines around the one meant, if the source is still where it was, in the folder that may be shown.
std::string source_lines(const site& one, const std::string& sources) {
    namespace fs = std::filesystem;
    if (one.line == 0 || one.file.empty() || sources.empty()) return {};
    std::error_code error;
    const fs::path root = fs::canonical(sources, error);
    if (error) return {};
    const fs::path path = fs::canonical(root / one.file, error);    // (an absolute path stays what it is; no link leads out)
    if (error || !fs::is_regular_file(path, error)) return {};
    const auto [end_of_root, rest] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
    if (end_of_root != root.end()) return {};
    std::ifstream file(path);
    std::string text;
    std::string line;
    for (int at = 1; std::getline(file, line) && at <= one.line + 2; ++at) {
        if (at < one.line - 2) continue;
        const std::string shown = std::to_string(at) + "  " + escaped(tools::shortened_to(tools::printable(line), 200, ""));
        text += (at == one.line ? "<b>" + shown + "</b>" : shown) + "\n";
    }
    return text.empty() ? text : "<pre>" + text + "</pre>\n";
}

std::string dimension(const char* name, const std::string& value, double share, const char* meaning) {
    return std::string("<div title=\"") + meaning + "\">" + name + ": " + value +
           "<div class=\"bar\"><i style=\"width:" + number(std::clamp(share, 0.0, 1.0) * 100) + "%\"></i></div></div>\n";
}

std::string percent(double share) {
    char text[16];
    std::snprintf(text, sizeof text, "%.0f%%", share * 100);
    return text;
}

std::string dimensions_of(const site& one) {
    char density[32];
    char variation[32];
    std::snprintf(density, sizeof density, one.five.density < 100 ? "%.2g a ms" : "%.0f a ms", one.five.density);
    std::snprintf(variation, sizeof variation, "%.1f bits", one.five.variation);
    return "<div class=\"five\">" +
           dimension("density", density, std::log10(1 + one.five.density) / 5, "allocations in a millisecond of the run") +
           dimension("variation", variation, one.five.variation / 10, "how uncertain the size of the next block is") +
           dimension("locality", percent(one.five.locality), one.five.locality,
                     "blocks that lie within a page of the one before") +
           dimension("utilization", percent(one.five.utilization), one.five.utilization,
                     "most bytes alive at once, of all that were allocated") +
           dimension("contention", percent(one.five.contention), one.five.contention,
                     "allocations that follow another thread's, or are freed by another") +
           "</div>\n";
}

std::string code_of(const recommendation& what) { return what.code.empty() ? "" : "<pre>" + escaped(what.code) + "</pre>\n"; }

std::string measured(const lab_cell& cell) {
    if (cell.experiment.empty()) return {};
    return "<p class=\"soft\">Measured: " + escaped(cell.contender) + " takes " + percent(cell.ratio) +
           " of the usual time in experiment " + escaped(cell.experiment) + " (" + escaped(cell.parameters) + ").</p>\n";
}

std::string shared_card(const advised& all) {
    const recommendation& what = all.what;
    std::string text = "<div class=\"site\"><h3>" + escaped(all.where) + "</h3>\n<p><span class=\"what\">" + escaped(what.text) +
                       "</span> saves " + time_text(what.saves_least_ns) + " to " + time_text(what.saves_most_ns) +
                       " of this run. " + escaped(what.evidence) + ".</p>\n" + code_of(what);
    text += "<details><summary>The places</summary><table><tr><th>Where</th><th>What</th><th class=\"n\">allocations</th></tr>\n";
    for (std::size_t i = 0; i < all.together.size() && i < 60; ++i) {
        const site& one = *all.together[i];
        text += "<tr><td>" + escaped(one.place()) + "</td><td>" + escaped(one.container) + "</td><td class=\"n\">" +
                count_text(one.totals.allocations) + "</td></tr>\n";
    }
    return text + "</table></details>\n" + measured(what.because_of->cell) + "</div>\n";
}

std::string site_card(const site& one, const recommendation& what, const std::string& sources) {
    std::string text = "<div class=\"site\"><h3>" + escaped(one.place()) + " <span class=\"soft\">" +
                       escaped(one.container.empty() ? "" : one.container) + "</span></h3>\n";
    text += "<p><span class=\"what\">" + escaped(what.text) + "</span>";
    if (what.saves_most_ns > 0)
        text += " saves " + time_text(what.saves_least_ns) + " to " + time_text(what.saves_most_ns) + " of this run";
    text += ". " + escaped(what.evidence) + ".</p>\n<p class=\"soft\">in " + escaped(one.function) + "</p>\n";
    text += code_of(what) + source_lines(one, sources);
    if (one.growth.count > 0) {
        text += "<p>" + count_text(one.growth.count) + " growths, " + bytes_text(one.growth.bytes) + " copied";
        if (one.growth.ns > 0)
            text += ", " + time_text(one.growth.ns) + ", the longest " + time_text(static_cast<double>(one.growth.longest_ns));
        if (one.totals.slack_bound > 0)
            text += "; at their end, at most " + bytes_text(one.totals.slack_bound) + " of " +
                    bytes_text(one.totals.final_bytes) + " were unused";
        text += "</p>\n";
    }
    text += dimensions_of(one);
    return text + measured(what.because_of->cell) + "</div>\n";
}

}    // namespace

std::string page_text(const profile_result& profile, const std::string& sources) {
    const std::string title = profile.command_line.empty() ? profile.source : profile.command_line;
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\">"
        "<title>" +
        escaped(title) + "</title><style>" + style + "</style></head><body>\n<h1>" + escaped(title) + "</h1>\n";
    for (const std::string& reason : profile.unseen) page += "<p><b>No verdict:</b> " + escaped(reason) + ".</p>\n";
    const auto figure = [&](const std::string& value, const char* what) {
        page += "<div><b>" + value + "</b>" + what + "</div>";
    };
    page += "<div class=\"numbers\">";
    figure(count_text(profile.allocations), "allocations");
    figure(bytes_text(profile.peak_bytes), "at most at once");
    if (profile.peak_held > 0) figure(bytes_text(profile.peak_held), "of it in Headroom's ranges");
    if (profile.resident > 0) figure(bytes_text(profile.resident), "resident at most");
    if (profile.processor_seconds > 0) figure(time_text(profile.processor_seconds * 1e9), "of processor time");
    figure(count_text(profile.growths), "times an array grew");
    figure(bytes_text(profile.copied), "copied by that");
    if (profile.growing_ns > 0) figure(time_text(profile.growing_ns), "spent on that");
    if (profile.seconds > 0) figure(time_text(profile.seconds * 1e9), "of run, recorded");
    page += "</div>\n";
    for (const std::string& note : profile.notes) page += "<p class=\"soft\">" + escaped(note) + ".</p>\n";

    page += "<h2>What would gain</h2>\n";
    const std::vector<advised> all = by_saving(profile);
    for (std::size_t i = 0; i < all.size() && i < 30; ++i)
        page += all[i].one != nullptr ? site_card(*all[i].one, all[i].what, sources) : shared_card(all[i]);
    const malloc_estimate other = other_malloc(profile);
    if (!other.text.empty()) page += "<p>" + escaped(other.text) + ".</p>\n" + measured(other_malloc_cell());
    if (all.empty() && other.text.empty())
        page += profile.unseen.empty() ? "<p>No site would gain from a change.</p>\n"
                                       : "<p>There is no advice about what was recorded.</p>\n";
    if (profile.times.size() > 1) page += "<h2>Memory over time</h2>\n" + time_line(profile);
    if (profile.copied > 0)
        page +=
            "<h2>Functions that copied while growing</h2>\n<p class=\"soft\">Callers above, the width is bytes copied.</p>\n" +
            flame_graph(profile);
    page += std::string(profile.unseen.empty() ? "<h2>Left alone</h2>" : "<h2>The rest of what was recorded</h2>") +
            "\n<div class=\"scroll\"><table><tr><th>Where</th><th>What</th><th "
            "class=\"n\">allocations</th><th class=\"n\">copied</th><th>why</th></tr>\n";
    std::size_t rows = 0;
    std::set<const site*> advised_about;
    for (const advised& one : all) {
        advised_about.insert(one.one);
        advised_about.insert(one.together.begin(), one.together.end());
    }
    for (const site& one : profile.sites) {
        if (advised_about.contains(&one) || rows++ >= 40) continue;
        page += "<tr><td>" + escaped(one.place()) + "</td><td>" + escaped(one.container) + "</td><td class=\"n\">" +
                count_text(one.totals.allocations) + "</td><td class=\"n\">" + bytes_text(one.growth.bytes) + "</td><td>" +
                escaped(advise(one).evidence) + "</td></tr>\n";
    }
    page += "</table></div>\n";
    if (rows > 40) page += "<p class=\"soft\">and " + std::to_string(rows - 40) + " more, which --json names.</p>\n";
    return page + "</body></html>\n";
}

}    // namespace headroom::profile
