// SPDX-License-Identifier: MIT
#include "engine/short_memory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<sys/swap.h>)
#include <sys/swap.h>
#endif

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace headroom::lab {
namespace {

namespace fs = std::filesystem;

// Ours are recognised by this, and by the process that made them.
constexpr const char* mark = "headroom-lab-";

[[noreturn]] void refuse(const std::string& what, int why) { throw std::system_error(why, std::generic_category(), what); }

void write_whole(const fs::path& file, const std::string& text) {
    const int to = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (to < 0) refuse(file.string(), errno);
    const ssize_t written = write(to, text.data(), text.size());
    const int why = errno;
    close(to);
    if (written != static_cast<ssize_t>(text.size())) refuse(file.string(), why);
}

// Swap is a matter of one call each way, where the system knows such calls.
int swap_on([[maybe_unused]] const fs::path& file) {
#if __has_include(<sys/swap.h>)
    return swapon(file.c_str(), 0) == 0 ? 0 : errno;
#else
    return ENOSYS;
#endif
}
int swap_off([[maybe_unused]] const fs::path& file) {
#if __has_include(<sys/swap.h>)
    return swapoff(file.c_str()) == 0 ? 0 : errno;
#else
    return ENOSYS;
#endif
}

// Writes the header of a swap file: one page, with the version, the last page's number and a magic word at its end.
void write_swap_header(int file, std::uint64_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::string header(page, '\0');
    const std::uint32_t version = 1;
    const auto last = static_cast<std::uint32_t>(bytes / page - 1);
    std::memcpy(header.data() + 1024, &version, sizeof version);
    std::memcpy(header.data() + 1028, &last, sizeof last);
    std::memcpy(header.data() + page - 10, "SWAPSPACE2", 10);
    if (pwrite(file, header.data(), page, 0) != static_cast<ssize_t>(page)) refuse("swap file", errno);
    if (fsync(file) != 0) refuse("swap file", errno);
}

void kill_members(const fs::path& group) {
    std::ifstream members(group / "cgroup.procs");
    for (pid_t one = 0; members >> one;) {
        if (one > 0) kill(one, SIGKILL);
    }
}

// A group goes when its last process has been buried, which takes a moment after its death.
void remove_group(const fs::path& group) noexcept {
    for (int tries = 0; tries < 200; ++tries) {
        if (rmdir(group.c_str()) == 0 || errno != EBUSY) return;
        try {
            kill_members(group);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        } catch (const std::exception&) {
            return;
        }
    }
}

void remove_swap(const fs::path& file) noexcept {
    const int why = swap_off(file);
    if (why != 0 && why != EINVAL && why != ENOENT) return;    // still in use: the file must stay
    unlink(file.c_str());
}

// True if it was made by a lab process that has ended.
bool left_behind(const fs::path& what) {
    const std::string name = what.filename().string();
    const std::size_t begin = std::strlen(mark);
    if (name.compare(0, begin, mark) != 0) return false;
    int owner = 0;
    const auto read = std::from_chars(name.data() + begin, name.data() + name.size(), owner);
    return read.ec == std::errc() && owner > 0 && kill(owner, 0) != 0 && errno == ESRCH;
}

template <class Remove>
void clear_leftovers(const fs::path& folder, Remove remove) {
    std::error_code ignored;
    for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
        if (ignored) return;
        if (left_behind(at->path())) remove(at->path());
    }
}

// Several of one process must not meet.
std::string own_name() {
    static int count = 0;
    return mark + std::to_string(getpid()) + "-" + std::to_string(++count);
}

bool has_word(const fs::path& file, const std::string& wanted) {
    std::ifstream in(file);
    for (std::string word; in >> word;) {
        if (word == wanted) return true;
    }
    return false;
}

// The folder in which a group with a limit on memory can be made, and the file in it that sets the limit.
struct place {
    fs::path parent;
    const char* limit;
};

// The text after the second colon of a line of /proc/self/cgroup: the path of our group, below the mount.
fs::path below(const fs::path& mount, const std::string& path) { return mount / fs::path(path).relative_path(); }

place find_place(const short_memory_places& places) {
    std::ifstream in(places.own);
    std::string unified;
    for (std::string line; std::getline(in, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const std::string path = line.substr(second + 1);
        if (controllers.find(",memory,") != std::string::npos) {
            // Version 1: inside our own group, so that its limits go on holding.
            const fs::path mount = fs::path(places.groups) / "memory";
            const fs::path own = below(mount, path);
            return {fs::exists(own) ? own : mount, "memory.limit_in_bytes"};
        }
        if (controllers == ",,") unified = path;
    }
    if (unified.empty()) throw std::runtime_error("this system has no control groups");
    // Version 2: a group with processes has no groups with controllers in it. The nearest one above us that has.
    const fs::path mount(places.groups);
    for (fs::path own = below(mount, unified);; own = own.parent_path()) {
        if (has_word(own / "cgroup.subtree_control", "memory")) return {own, "memory.max"};
        if (own == mount || !own.has_relative_path()) break;
    }
    throw std::runtime_error("no control group here hands its memory controller on");
}

}    // namespace

short_memory::short_memory(std::uint64_t limit, std::uint64_t swap, const short_memory_places& places) {
    try {
        make_group(limit, places);
        make_swap(swap, places);
    } catch (const std::exception& reason) {
        refusal_ = reason.what();
        take_away();
    }
}

short_memory::~short_memory() { take_away(); }

void short_memory::make_group(std::uint64_t limit, const short_memory_places& places) {
    const place at = find_place(places);
    clear_leftovers(at.parent, remove_group);
    const fs::path group = at.parent / own_name();
    if (mkdir(group.c_str(), 0755) != 0) refuse("control group " + group.string(), errno);
    group_ = group;
    write_whole(group / at.limit, std::to_string(limit));
}

void short_memory::make_swap(std::uint64_t bytes, const short_memory_places& places) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    bytes = bytes / page * page;
    std::string reasons;
    for (const fs::path& folder : places.swap_folders) {
        try {
            clear_leftovers(folder, remove_swap);
            std::error_code ignored;
            const fs::space_info space = fs::space(folder, ignored);
            if (!ignored && space.available < bytes + bytes / 8) refuse(folder.string(), ENOSPC);
            const fs::path file = folder / (own_name() + ".swap");
            const int to = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            if (to < 0) refuse("swap file " + file.string(), errno);
            int why = posix_fallocate(to, 0, static_cast<off_t>(bytes));
            try {
                if (why != 0) refuse("swap file " + file.string(), why);
                write_swap_header(to, bytes);
                why = swap_on(file);
                if (why != 0) refuse("swap on " + file.string(), why);
            } catch (...) {
                close(to);
                unlink(file.c_str());
                throw;
            }
            close(to);
            swap_file_ = file;
            return;
        } catch (const std::exception& reason) {
            reasons += (reasons.empty() ? "" : "; ") + std::string(reason.what());
        }
    }
    throw std::runtime_error(reasons.empty() ? "no folder for a swap file" : reasons);
}

void short_memory::take_away() noexcept {
    // The group first: what its processes have in the swap file goes with them, and need not be read back.
    if (!group_.empty()) remove_group(group_);
    if (!swap_file_.empty()) remove_swap(swap_file_);
    group_.clear();
    swap_file_.clear();
}

}    // namespace headroom::lab
