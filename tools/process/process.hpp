// SPDX-License-Identifier: MIT
// A running process, seen through /proc: its memory, its mappings, and why it may not be looked at.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace headroom::tools::maps {

// What stands in the way of a reading, in words for the user.
class problem : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
// The process is no more.
class process_ended : public problem {
public:
    using problem::problem;
};
// Thrown when the process changed while it was read: the caller begins again.
class process_changed : public problem {
public:
    using problem::problem;
};

class file_descriptor {
public:
    explicit file_descriptor(int number = -1) noexcept : number_(number) {}
    file_descriptor(file_descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
    file_descriptor& operator=(file_descriptor&& other) noexcept;
    ~file_descriptor();
    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }

private:
    int number_;
};

// One of the process's mappings. The last three are of /proc/PID/smaps alone.
struct mapping {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    std::uint64_t inode = 0;
    bool readable = false;
    bool writable = false;
    std::string path;
    std::uint64_t resident = 0;    // bytes
    std::uint64_t swapped = 0;
    std::uint64_t huge = 0;    // of what is resident
};

// What of a part of the process's memory is there.
struct part_in_memory {
    std::uint64_t resident = 0;    // bytes
    std::uint64_t swapped = 0;
    std::uint64_t huge = 0;
    bool huge_is_known = false;
};

class process {
public:
    // Throws a problem if there is no such process, or none that has memory of its own.
    explicit process(pid_t id);

    [[nodiscard]] pid_t id() const noexcept { return id_; }
    // The first 15 bytes of the program's name, or whatever the process calls itself. Its last one, if it has ended.
    [[nodiscard]] std::string command() const;
    [[nodiscard]] bool has_ended() const;

    // Once before each reading: the process may run another program than it did. Throws a problem if it may not be read.
    void open_memory();
    // False where the process has no such memory. `at` is one of its addresses.
    [[nodiscard]] bool read(std::uint64_t at, void* to, std::size_t bytes) const noexcept;
    [[nodiscard]] std::vector<mapping> mappings() const;
    [[nodiscard]] std::vector<mapping> mappings_with_memory() const;
    // Asks the page tables: for parts of a mapping.
    [[nodiscard]] part_in_memory in_memory(std::uint64_t from, std::uint64_t to) const;

    // Becomes readable when the process ends; -1 where the kernel has no such thing.
    [[nodiscard]] int end() const noexcept { return end_.number(); }

private:
    void find_process();
    void find_thread();
    [[nodiscard]] int folder() const noexcept { return thread_ ? thread_.number() : process_.number(); }
    [[nodiscard]] std::string file(const char* name) const;
    [[noreturn]] void explain(const char* file, int error) const;

    pid_t id_;
    std::string command_;        // kept for messages after the process has ended
    file_descriptor process_;    // its folder: still names this process if its number is reused
    file_descriptor thread_;     // the folder of a thread that runs, or not, if the first one does
    file_descriptor memory_;
    file_descriptor end_;
};

// What in_memory asks; `pagemap` is that file of the process. (pages.cpp)
[[nodiscard]] part_in_memory pages_in_memory(int pagemap, std::uint64_t from, std::uint64_t to);

// Why a process may not be read: of the users' numbers, and of what /proc/sys/kernel/yama/ptrace_scope holds, if anything.
[[nodiscard]] std::string reason_of_refusal(uid_t owner, uid_t reader, const std::string& ptrace_scope);

// "process 12 (name)"
[[nodiscard]] std::string words_for(pid_t id, const std::string& command);

}    // namespace headroom::tools::maps
