// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>

#include "printable.hpp"
#include "show.hpp"
#include "trace/file.hpp"

namespace headroom::profile {
namespace {

std::string shortened(const std::string& text, std::size_t columns) {
    return columns < 8 ? text : tools::shortened_to(text, columns, "...");
}

std::string saving(const recommendation& what) {
    if (what.what == advice::leave_it) return {};
    if (what.saves_most_ns <= 0) return bytes_text(what.saved_bytes_copied) + " not copied";
    return time_text(what.saves_least_ns) + " to " + time_text(what.saves_most_ns);
}

std::string what_grows(const site& one) {
    return one.container.empty() ? one.growth.count > 0 ? "an array" : "allocations" : one.container;
}

}    // namespace

std::vector<advised> by_saving(const profile_result& profile) {
    std::vector<advised> all;
    for (const site& one : profile.sites) {
        const recommendation what = advise(one);
        if (what.what != advice::leave_it) all.push_back({one.place() + "  " + what_grows(one), what, &one, {}, 1});
    }
    for (shared_recommendation& what : advise_together(profile)) {
        std::string where = count_text(static_cast<double>(what.sites.size())) + (what.sites.size() == 1 ? " place" : " places");
        where += what.function.empty() ? "" : " in " + what.function + "()";
        if (what.sites.size() == 1) where = what.sites.front()->place() + "  " + what_grows(*what.sites.front());
        all.push_back({where, what, nullptr, what.sites, what.sites.size()});
    }
    std::sort(all.begin(), all.end(), [](const advised& a, const advised& b) {
        if (a.what.saves_most_ns != b.what.saves_most_ns) return a.what.saves_most_ns > b.what.saves_most_ns;
        if (a.what.saved_bytes_copied != b.what.saved_bytes_copied) return a.what.saved_bytes_copied > b.what.saved_bytes_copied;
        return a.where < b.where;
    });
    return all;
}

std::string terminal_text(const profile_result& profile, std::size_t width) {
    std::string text;
    const auto line = [&](const std::string& words) { text += shortened(words, width) + "\n"; };
    for (const std::string& reason : profile.unseen) text += "No verdict: " + reason + ".\n";
    line(profile.command_line.empty() ? profile.source : profile.command_line);
    line(count_text(profile.allocations) + " allocations of " + bytes_text(profile.bytes) + ", at most " +
         bytes_text(profile.peak_bytes) + " at once" +
         (profile.peak_held > 0 ? " (up to " + bytes_text(profile.peak_held) + " in Headroom's ranges)" : "") +
         (profile.processor_seconds > 0 ? ", in " + time_text(profile.processor_seconds * 1e9) + " of processor time"
          : profile.seconds > 0         ? ", in " + time_text(profile.seconds * 1e9)
                                        : "") +
         (profile.processes > 1 ? ", by " + std::to_string(profile.processes) + " processes" : "") +
         (profile.sample != 0 ? "; sampled, one in about " + bytes_text(static_cast<double>(profile.sample)) : ""));
    line(count_text(profile.growths) + " times an array grew: " + bytes_text(profile.copied) + " copied" +
         (profile.growing_ns > 0 ? ", which took " + time_text(profile.growing_ns) : "") +
         (profile.interrupted >= 1
              ? " (" + count_text(profile.interrupted) + " were interrupted for longer, which is not counted)"
              : ""));
    const std::vector<advised> all = by_saving(profile);
    const malloc_estimate other = other_malloc(profile);
    const bool other_first =
        !other.text.empty() && (all.empty() || other.saves_least_ns + other.saves_most_ns >
                                                   all.front().what.saves_least_ns + all.front().what.saves_most_ns);
    if (other_first) text += "\nFirst: " + other.text + "\n";
    std::size_t shown = 0;
    std::size_t covered = 0;
    for (const advised& one : all) {
        if (shown == 5) break;
        covered += one.places;
        if (shown++ == 0) line("");
        line(one.where + ": " + one.what.text + ", saves " + saving(one.what));
        line("    " + one.what.evidence);
        for (std::size_t at = 0; at < one.what.code.size();) {    // whole: it is to be copied
            const std::size_t end = std::min(one.what.code.find('\n', at), one.what.code.size());
            text += "        " + one.what.code.substr(at, end - at) + "\n";
            at = end + 1;
        }
    }
    const bool verdict = profile.unseen.empty();
    if (shown == 0 && !other_first)
        line(verdict ? "Nothing here would gain: leave it." : "There is no advice about what was recorded.");
    else if (profile.sites.size() > covered)
        line(count_text(static_cast<double>(profile.sites.size() - covered)) + " more" +
             (all.size() == shown && verdict ? ": to be left alone" : "; --page shows them, --json too"));
    if (!other.text.empty() && !other_first) text += "Or first: " + other.text + "\n";
    for (const std::string& note : profile.notes) text += "note: " + note + "\n";
    return text;
}

std::string difference_text(const profile_result& before, const profile_result& after, std::size_t width) {
    // Lines move when a program is changed: a site is known by its function and what allocated there. Several of one
    // function are added up.
    struct sums {
        double copied[2] = {};
        double ns[2] = {};
        double allocations[2] = {};
    };
    std::map<std::string, sums> functions;
    for (int which = 0; which < 2; ++which) {
        for (const site& one : (which == 0 ? before : after).sites) {
            sums& sum = functions[std::string(without_arguments(one.function))];
            sum.copied[which] += one.growth.bytes;
            sum.ns[which] += one.growth.ns;
            sum.allocations[which] += one.totals.allocations;
        }
    }
    std::string text;
    const auto change = [](double from, double to) {
        if (from == to) return std::string("the same");
        if (from == 0) return std::string("new");
        char words[32];
        std::snprintf(words, sizeof words, "%+.0f%%", (to - from) / from * 100);
        return std::string(words);
    };
    const auto row = [&](const char* name, double from, double to, std::string (*shown)(double)) {
        text += std::string(name) + ": " + shown(from) + " -> " + shown(to) + " (" + change(from, to) + ")\n";
    };
    if (before.processor_seconds > 0 && after.processor_seconds > 0)
        row("processor time", before.processor_seconds * 1e9, after.processor_seconds * 1e9, time_text);
    if (before.resident > 0 && after.resident > 0)
        row("most resident, as the system counts", before.resident, after.resident, bytes_text);
    row("allocations", before.allocations, after.allocations, count_text);
    row("bytes allocated", before.bytes, after.bytes, bytes_text);
    row("most at once", before.peak_bytes, after.peak_bytes, bytes_text);
    if (before.peak_held > 0 || after.peak_held > 0)
        row("  of it in Headroom's ranges", before.peak_held, after.peak_held, bytes_text);
    row("arrays grew", before.growths, after.growths, count_text);
    row("bytes copied", before.copied, after.copied, bytes_text);
    if (before.growing_ns > 0 || after.growing_ns > 0) row("time in growing", before.growing_ns, after.growing_ns, time_text);
    std::vector<std::pair<double, std::string>> changed;
    for (const auto& [name, sum] : functions) {
        const double by = std::abs(sum.copied[1] - sum.copied[0]) + 64 * std::abs(sum.allocations[1] - sum.allocations[0]);
        if (by == 0) continue;
        changed.emplace_back(by, shortened(name, width / 2) + ": copied " + bytes_text(sum.copied[0]) + " -> " +
                                     bytes_text(sum.copied[1]) + ", allocations " + count_text(sum.allocations[0]) + " -> " +
                                     count_text(sum.allocations[1]));
    }
    std::sort(changed.begin(), changed.end(),
              [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    for (std::size_t i = 0; i < changed.size() && i < 20; ++i) text += "  " + changed[i].second + "\n";
    if (changed.empty()) text += "  no function allocates differently\n";
    return text;
}

std::string folded_text(const profile_result& profile) {
    std::map<std::string, double> lines;
    for (const site& one : profile.sites) {
        for (const stack_share& stack : one.stacks) {
            if (stack.copied <= 0) continue;
            std::string line;
            for (const std::string_view frame : stack.frames) {
                std::string name(frame);
                std::replace(name.begin(), name.end(), ';', ':');
                line += (line.empty() ? "" : ";") + name;
            }
            lines[line] += stack.copied;
        }
    }
    std::string text;
    for (const auto& [line, bytes] : lines) text += line + " " + std::to_string(static_cast<long long>(bytes + 0.5)) + "\n";
    return text;
}

void write_output(const std::string& path, const std::string& content) {
    if (path == "-") {
        if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() || std::fflush(stdout) != 0) {
            throw std::runtime_error(std::string("cannot write to standard output: ") + std::strerror(errno));
        }
        return;
    }
    file_pointer file = open_file(path, "wbe");
    if (!file) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
    const bool written =
        std::fwrite(content.data(), 1, content.size(), file.get()) == content.size() && std::fflush(file.get()) == 0;
    const int error = errno;
    if (!written) {
        std::error_code ignored;
        // Removes incomplete output, unless it is a device or a pipe.
        if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored))) std::remove(path.c_str());
        throw std::runtime_error("cannot write " + path + ": " + std::strerror(error));
    }
}

}    // namespace headroom::profile
