// SPDX-License-Identifier: MIT
#include "process/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "printable.hpp"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace headroom::tools::maps {
namespace {

// In the flags that stat shows: PF_KTHREAD and PF_EXITING.
constexpr unsigned long kernel_thread_flag = 0x00200000, ending_flag = 0x00000004;

// The whole of a file below `folder`; what `error` says is errno, or 0.
std::string read_file(int folder, const char* name, int& error) {
    const file_descriptor file(openat(folder, name, O_RDONLY | O_CLOEXEC));
    std::string text;
    error = errno;
    if (!file) return text;
    error = 0;
    constexpr std::size_t step = std::size_t{64} << 10;
    for (std::size_t have = 0;;) {
        text.resize(have + step);
        const ssize_t got = ::read(file.number(), text.data() + have, step);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) error = errno;
        have += got > 0 ? static_cast<std::size_t>(got) : 0;
        if (got <= 0) {
            text.resize(have);
            return text;
        }
    }
}

struct process_state {
    char letter = '?';
    unsigned long flags = 0;
};
// Of the text of a stat file: what follows the name, which stands in parentheses and may contain any character.
std::optional<process_state> state_in(const std::string& stat) {
    const std::size_t name_end = stat.rfind(')');
    process_state state;
    if (name_end == std::string::npos ||
        std::sscanf(stat.c_str() + name_end + 1, " %c %*d %*d %*d %*d %*d %lu", &state.letter, &state.flags) != 2)
        return std::nullopt;
    return state;
}
// A thread that is ending has no memory any more, and becomes a zombie a little later.
bool is_over(const process_state& state) {
    return state.letter == 'Z' || state.letter == 'X' || state.letter == 'x' || (state.flags & ending_flag) != 0;
}

std::optional<process_state> state_of(int folder) {
    int error = 0;
    return state_in(read_file(folder, "stat", error));
}

// A thread of the process that runs still, where its first one has ended: the name of its folder in `task`; empty if none.
std::string running_thread(int folder) {
    const int number = openat(folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const list = number < 0 ? nullptr : fdopendir(number);
    if (list == nullptr) {
        if (number >= 0) close(number);
        return {};
    }
    std::string found;
    while (const dirent* const each = readdir(list)) {
        if (each->d_name[0] == '.') continue;
        int error = 0;
        const auto state = state_in(read_file(number, (std::string(each->d_name) + "/stat").c_str(), error));
        if (!state || is_over(*state)) continue;
        found = std::string("task/") + each->d_name;
        break;
    }
    closedir(list);
    return found;
}

std::string name_of_user(uid_t user) {
    const passwd* const entry = getpwuid(user);
    return entry != nullptr ? std::string("user ") + entry->pw_name : "user number " + std::to_string(user);
}

std::optional<mapping> mapping_of(const char* text) {
    // Copies the line: sscanf searches for the end of its text, and the list of a large program has many megabytes.
    const std::string line(text, std::strcspn(text, "\n"));
    mapping found;
    char protection[5] = "";
    int path = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &found.start, &found.end,
                    protection, &found.offset, &found.inode, &path) < 5 ||
        found.start >= found.end)
        return std::nullopt;
    found.readable = protection[0] == 'r';
    found.writable = protection[1] == 'w';
    if (path != 0) found.path = line.substr(static_cast<std::size_t>(path));
    return found;
}

// The lines of a text, each from its first character; the text has no other zeros than its last.
template <class Each>
void for_each_line(const std::string& text, Each each) {
    for (std::size_t at = 0; at < text.size();) {
        each(text.c_str() + at);
        const std::size_t end = text.find('\n', at);
        if (end == std::string::npos) return;
        at = end + 1;
    }
}

}    // namespace

file_descriptor& file_descriptor::operator=(file_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}
file_descriptor::~file_descriptor() {
    if (number_ >= 0) close(number_);
}

std::string words_for(pid_t id, const std::string& command) {
    return "process " + std::to_string(id) + (command.empty() ? "" : " (" + printable(command) + ")");
}

process::process(pid_t id) : id_(id) {
    find_process();
    end_ = file_descriptor(static_cast<int>(syscall(SYS_pidfd_open, id_, 0)));
    // Between the two another process may have got the number.
    if (has_ended()) throw process_ended(words_for(id_, command_) + " has ended");
}

void process::find_process() {
    const std::string path = "/proc/" + std::to_string(id_);
    process_ = file_descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!process_) {
        if (access("/proc/self/stat", F_OK) != 0) throw problem("/proc is not mounted, and nothing else tells of processes");
        if (kill(id_, 0) == 0 || errno == EPERM) {
            throw problem("process " + std::to_string(id_) +
                          " is hidden from this user (/proc is mounted with hidepid); root sees it");
        }
        throw problem("there is no process " + std::to_string(id_));
    }
    const auto state = state_of(process_.number());
    if (!state) throw process_ended("process " + std::to_string(id_) + " has ended");
    command_ = command();
    if ((state->flags & kernel_thread_flag) != 0)
        throw problem(words_for(id_, command_) + " is a thread of the kernel, and has no memory of its own");
    if (state->letter == 'Z' && running_thread(process_.number()).empty())
        throw process_ended(words_for(id_, command_) + " has ended already: it is a zombie, which its parent has not waited for");
}

// Finds a thread that runs: the first thread's files are empty once it has ended, and those of the others show the whole process.
void process::find_thread() {
    thread_ = file_descriptor();
    const auto state = state_of(process_.number());
    if (!state || !is_over(*state)) return;
    const std::string name = running_thread(process_.number());
    if (!name.empty()) thread_ = file_descriptor(openat(process_.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::string process::command() const {
    int error = 0;
    std::string name = read_file(process_.number(), "comm", error);
    if (!name.empty() && name.back() == '\n') name.pop_back();
    return name.empty() ? command_ : name;
}

bool process::has_ended() const {
    const auto state = state_of(process_.number());
    return !state || (is_over(*state) && running_thread(process_.number()).empty());
}

std::string reason_of_refusal(uid_t owner, uid_t reader, const std::string& ptrace_scope) {
    if (reader == 0 && !ptrace_scope.starts_with('3'))
        return "root lacks the right to do that here (CAP_SYS_PTRACE), as in many containers, or a security module forbids it";
    if (owner != reader) return "it belongs to " + name_of_user(owner) + "; that user may read it, or root";
    const char scope = ptrace_scope.empty() ? '0' : ptrace_scope[0];
    const std::string file = "/proc/sys/kernel/yama/ptrace_scope is ";
    if (scope == '1') return file + "1: only root may read it, or the process that started it";
    if (scope == '2') return file + "2: only root may read it";
    if (scope == '3') return file + "3: nobody may read it until the machine is started anew";
    return "it is set-user-ID, has rights that this user lacks, or asked not to be read (prctl PR_SET_DUMPABLE); root may read it";
}

void process::explain(const char* file, int error) const {
    if (error == ENOENT || error == ESRCH || has_ended()) throw process_ended(words_for(id_, command()) + " has ended");
    if (error == EACCES || error == EPERM) {
        int unread = 0;
        const std::string status = read_file(process_.number(), "status", unread);
        const std::size_t line = status.find("\nUid:");
        const uid_t reader = geteuid();
        const uid_t owner =
            line == std::string::npos ? reader : static_cast<uid_t>(std::strtoul(status.c_str() + line + 5, nullptr, 10));
        throw problem(words_for(id_, command()) + " may not be read: " +
                      reason_of_refusal(owner, reader, read_file(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", unread)));
    }
    throw problem("cannot read /proc/" + std::to_string(id_) + "/" + file + ": " + std::generic_category().message(error));
}

void process::open_memory() {
    find_thread();
    memory_ = file_descriptor(openat(folder(), "mem", O_RDONLY | O_CLOEXEC));
    if (!memory_) explain("mem", errno);
}

bool process::read(std::uint64_t at, void* to, std::size_t bytes) const noexcept {
    auto* out = static_cast<char*>(to);
    while (bytes != 0) {
        if (at > INT64_MAX) return false;
        const ssize_t got = pread64(memory_.number(), out, bytes, static_cast<off64_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        out += got;
        at += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

std::string process::file(const char* name) const {
    int error = 0;
    std::string text = read_file(folder(), name, error);
    if (error != 0) explain(name, error);
    return text;
}

std::vector<mapping> process::mappings() const {
    std::vector<mapping> found;
    for_each_line(file("maps"), [&](const char* line) {
        if (auto one = mapping_of(line)) found.push_back(std::move(*one));
    });
    return found;
}

std::vector<mapping> process::mappings_with_memory() const {
    std::vector<mapping> found;
    for_each_line(file("smaps"), [&](const char* line) {
        // "Rss:   12 kB" of the mapping before; a line that begins another starts with its address, in small letters.
        if (*line < 'A' || *line > 'Z') {
            auto one = mapping_of(line);
            if (!one) return;
            // The kernel writes the list in parts; between them a mapping may merge with one that was listed already.
            if (!found.empty() && one->start < found.back().end) one->start = found.back().end;
            if (one->start < one->end) found.push_back(std::move(*one));
            return;
        }
        if (found.empty()) return;
        const auto amount = [&](const char* what, std::uint64_t& to) {
            const std::size_t length = std::strlen(what);
            if (std::strncmp(line, what, length) == 0) to += std::strtoull(line + length, nullptr, 10) << 10;
        };
        amount("Rss:", found.back().resident);
        amount("Swap:", found.back().swapped);
        amount("AnonHugePages:", found.back().huge);
        amount("ShmemPmdMapped:", found.back().huge);
        amount("FilePmdMapped:", found.back().huge);
    });
    return found;
}

part_in_memory process::in_memory(std::uint64_t from, std::uint64_t to) const {
    const file_descriptor pagemap(openat(folder(), "pagemap", O_RDONLY | O_CLOEXEC));
    if (!pagemap) explain("pagemap", errno);
    return pages_in_memory(pagemap.number(), from, to);
}

}    // namespace headroom::tools::maps
