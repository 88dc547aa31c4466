// SPDX-License-Identifier: MIT
// A place where memory is short: a control group with a limit, and a swap file behind it.
//
// For questions about what happens when a program's working set does not fit. Making one needs the system's leave (root, a
// control group that may be written to, a file system that can hold swap); where it is refused, nothing is left behind and
// the reason is kept. Swap is the whole machine's: others may be moved there too while this object lives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headroom::lab {

// Where to look; the defaults are this system's.
struct short_memory_places {
    std::string groups = "/sys/fs/cgroup";                             // where control groups are mounted, of version 1 or 2
    std::string own = "/proc/self/cgroup";                             // which groups this process is in
    std::vector<std::filesystem::path> swap_folders = {"/var/tmp"};    // tried in turn
};

class short_memory {
public:
    // `limit` bytes of memory for all processes in the group together, and a swap file of `swap` bytes. Takes away first what
    // a process that was killed left behind in the same places. O(swap) disk blocks, which are reserved and not written.
    short_memory(std::uint64_t limit, std::uint64_t swap, const short_memory_places& places = {});
    // Takes both away again. Processes still in the group are killed.
    ~short_memory();
    short_memory(const short_memory&) = delete;
    short_memory& operator=(const short_memory&) = delete;

    // Why there is none; empty when there is.
    [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
    // The file that takes a process into the group when "0" is written to it by that process.
    [[nodiscard]] std::string entrance() const { return (group_ / "cgroup.procs").string(); }
    [[nodiscard]] const std::filesystem::path& group() const noexcept { return group_; }
    [[nodiscard]] const std::filesystem::path& swap_file() const noexcept { return swap_file_; }

private:
    void make_group(std::uint64_t limit, const short_memory_places& places);
    void make_swap(std::uint64_t bytes, const short_memory_places& places);
    void take_away() noexcept;

    std::filesystem::path group_;        // empty: not made
    std::filesystem::path swap_file_;    // empty: not made
    std::string refusal_;
};

}    // namespace headroom::lab
