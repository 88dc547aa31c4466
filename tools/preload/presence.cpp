// SPDX-License-Identifier: MIT
#include "preload/presence.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "preload/program.hpp"

namespace headroom::tools {
namespace {

std::string folder_of(pid_t id) { return "/proc/" + std::to_string(id); }

// Returns the file's text; empty if it cannot be read.
std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct process_state {
    char state = 0;
    double used = 0;    // seconds of processor time, of all its threads
    std::uint64_t began = 0;
};
std::optional<process_state> state_of(pid_t id) {
    const std::string text = text_of(folder_of(id) + "/stat");
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream words(text.substr(name_end + 1));
    process_state found;
    words >> found.state;
    std::string word;
    std::uint64_t ticks = 0;
    for (int field = 4; field <= 22 && words >> word; ++field) {    // numbered as proc(5) does
        const std::uint64_t number = std::strtoull(word.c_str(), nullptr, 10);
        if (field == 14 || field == 15) ticks += number;
        if (field == 22) found.began = number;
    }
    found.used = static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
    // Its first thread's time to the nanosecond, where the system counts it: a tick is ten milliseconds.
    const std::uint64_t ns = std::strtoull(text_of(folder_of(id) + "/schedstat").c_str(), nullptr, 10);
    found.used = std::max(found.used, static_cast<double>(ns) * 1e-9);
    return found;
}

std::vector<pid_t> children_of(pid_t id) {
    std::vector<pid_t> found;
    const std::string tasks = folder_of(id) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> list(opendir(tasks.c_str()), &closedir);
    while (const dirent* const entry = list ? readdir(list.get()) : nullptr) {
        if (entry->d_name[0] == '.') continue;
        std::istringstream numbers(text_of(tasks + "/" + entry->d_name + "/children"));
        for (pid_t child = 0; numbers >> child;) found.push_back(child);
    }
    return found;
}

// True if the process has mapped a file of this name.
bool has_mapped(pid_t id, const std::string& library) {
    std::ifstream list(folder_of(id) + "/maps");
    for (std::string line; std::getline(list, line);) {
        if (line.find('/') != std::string::npos && profile::is_same_library(line, library)) return true;
    }
    return false;
}

}    // namespace

void library_presence::look() {
    std::vector<pid_t> queue{root_};
    for (const auto& [id, known] : seen_) queue.push_back(id);    // some may have lost their parents
    std::set<pid_t> done;
    while (!queue.empty()) {
        const pid_t id = queue.back();
        queue.pop_back();
        if (!done.insert(id).second || !look_at(id)) continue;
        const std::vector<pid_t> children = children_of(id);
        queue.insert(queue.end(), children.begin(), children.end());
    }
}

bool library_presence::look_at(pid_t id) {
    const std::optional<process_state> now = state_of(id);
    if (!now) return false;
    const auto [place, fresh] = seen_.try_emplace(id);
    process& one = place->second;
    if (fresh) one.began = now->began;
    if (one.began != now->began) return false;    // another got its number
    if (now->state == 'Z' || now->state == 'X') return true;
    char path[4096];
    const ssize_t length = readlink((folder_of(id) + "/exe").c_str(), path, sizeof path);
    if (length < 0 && errno == ENOENT) return true;    // it is ending
    const std::string program = length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
    if (one.programs.empty() || one.programs.back().program != program) {
        one.programs.push_back({id, program, 0, {}});
        one.barred = why_barred(id, program);
    }
    process_without& present = one.programs.back();
    std::string why = !one.barred.empty() ? one.barred : has_mapped(id, library_) ? std::string() : why_not_loaded(id, program);
    // A process that is ending has no memory any more, and maps nothing.
    if (!why.empty() && readlink((folder_of(id) + "/exe").c_str(), path, sizeof path) < 0 && errno == ENOENT) return true;
    present.why = std::move(why);
    if (!present.why.empty()) present.seconds += now->used - one.used;
    one.used = now->used;
    return true;
}

std::string library_presence::why_barred(pid_t id, const std::string& program) const {
    if (std::string why = profile::why_not(program, name_); !why.empty()) return why;
    const std::vector<std::string> preloaded = profile::preloaded_in(text_of(folder_of(id) + "/environ"));
    const auto own = std::find_if(preloaded.begin(), preloaded.end(),
                                  [&](const std::string& one) { return profile::is_same_library(one, library_); });
    if (own != preloaded.end() && std::any_of(preloaded.begin(), own, profile::defines_malloc))
        return profile::words_for(profile::refusal::preceded, program, name_);
    return {};
}

std::string library_presence::why_not_loaded(pid_t id, const std::string& program) const {
    const std::string environment = text_of(folder_of(id) + "/environ");
    const std::vector<std::string> preloaded = profile::preloaded_in(environment);
    profile::refusal why = profile::refusal::not_loaded;
    if (preloaded.empty()) why = profile::refusal::other_environment;
    else if (std::none_of(preloaded.begin(), preloaded.end(),
                          [&](const std::string& one) { return profile::is_same_library(one, library_); }))
        why = profile::refusal::other_preload;
    if (environment.empty() && access((folder_of(id) + "/environ").c_str(), R_OK) != 0) why = profile::refusal::not_readable;
    return profile::words_for(why, program.empty() ? "process " + std::to_string(id) : program, name_);
}

std::vector<process_without> library_presence::without() const {
    std::vector<process_without> found;
    for (const auto& [id, known] : seen_) {
        for (const process_without& one : known.programs) {
            if (!one.why.empty()) found.push_back(one);
        }
    }
    std::sort(found.begin(), found.end(),
              [](const process_without& a, const process_without& b) { return a.seconds > b.seconds; });
    return found;
}

}    // namespace headroom::tools
