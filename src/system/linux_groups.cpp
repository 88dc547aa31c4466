// SPDX-License-Identifier: MIT
// Linux: the memory that is available to the process, on the machine and below the limits of its control groups.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "system/calls.hpp"
#include "system/linux.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

struct word {
    char* data = nullptr;
    std::size_t length = 0;
    [[nodiscard]] bool is(const char* text) const noexcept {
        return length == std::strlen(text) && std::memcmp(data, text, length) == 0;
    }
};

// The text of a system file of any length; empty if it cannot be read. In pages of its own, because the caller may be malloc.
class whole_file {
public:
    HEADROOM_NOINLINE explicit whole_file(const char* path) noexcept {
        const errno_guard unchanged;
        const long file = open_system_file(path);
        if (file < 0) return;
        for (long more = 1; more > 0 && reserve(text_.length + 4096);) {
            more = syscall(SYS_read, file, text_.data + text_.length, bytes_ - text_.length);
            if (more > 0) text_.length += static_cast<std::size_t>(more);
        }
        (void)syscall(SYS_close, file);
    }
    HEADROOM_NOINLINE ~whole_file() {
        const errno_guard unchanged;
        if (bytes_ != 0) (void)munmap(text_.data, bytes_);
    }
    whole_file(const whole_file&) = delete;
    whole_file& operator=(const whole_file&) = delete;

    [[nodiscard]] word text() const noexcept { return text_; }

private:
    // Makes space for `bytes` bytes. False if refused, or for more than a few MiB.
    bool reserve(std::size_t bytes) noexcept {
        if (bytes <= bytes_) return true;
        const std::size_t larger = bytes_ == 0 ? std::size_t{64} << 10 : 2 * bytes_;
        if (larger > std::size_t{8} << 20) return false;
        void* const there = bytes_ == 0 ? mmap(nullptr, larger, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                        : mremap(text_.data, bytes_, larger, MREMAP_MAYMOVE);
        if (there == MAP_FAILED) return false;
        text_.data = static_cast<char*>(there);
        bytes_ = larger;
        return true;
    }
    word text_;
    std::size_t bytes_ = 0;
};

// Removes the text up to the first `separator`, or all, from the front of `rest`, and returns it.
word split(word& rest, char separator) noexcept {
    auto* const found = rest.length == 0 ? nullptr : static_cast<char*>(std::memchr(rest.data, separator, rest.length));
    const std::size_t length = found == nullptr ? rest.length : static_cast<std::size_t>(found - rest.data);
    const word first{rest.data, length};
    const std::size_t gone = found == nullptr ? length : length + 1;
    rest = {rest.data + gone, rest.length - gone};
    return first;
}

bool has_word(word list, const char* wanted) noexcept {
    while (list.length != 0) {
        if (split(list, ',').is(wanted)) return true;
    }
    return false;
}

// Replaces the octal escapes of /proc/self/mountinfo ("\\040" for a space).
word unescape(word path) noexcept {
    std::size_t to = 0;
    for (std::size_t from = 0; from < path.length; ++to) {
        if (path.data[from] == '\\' && from + 3 < path.length) {
            path.data[to] =
                static_cast<char>((path.data[from + 1] - '0') * 64 + (path.data[from + 2] - '0') * 8 + path.data[from + 3] - '0');
            from += 4;
        } else {
            path.data[to] = path.data[from++];
        }
    }
    return {path.data, to};
}

// File names of the two versions of control groups.
struct group_version {
    const char* limit;
    const char* soft_limit;    // above it the process is slowed down; null if there is none
    const char* usage;
    const char* inactive;    // entry of memory.stat that counts inactive file pages
};
constexpr group_version version_1{"/memory.limit_in_bytes", nullptr, "/memory.usage_in_bytes", "total_inactive_file"};
constexpr group_version version_2{"/memory.max", "/memory.high", "/memory.current", "inactive_file"};

// Where a hierarchy of control groups is mounted, and the group that is mounted there.
struct group_mount {
    word point, root;
};

// Finds the mount of version 2, or of version 1's memory controller. The newest one counts, which hides the others.
group_mount find_mount(word mounts, bool version_2_wanted) noexcept {
    group_mount found;
    while (mounts.length != 0) {
        // 36 35 98:0 ROOT POINT options [fields] - TYPE SOURCE OPTIONS
        word line = split(mounts, '\n');
        for (int i = 0; i < 3; ++i) (void)split(line, ' ');
        const word root = split(line, ' ');
        const word point = split(line, ' ');
        while (line.length != 0 && !split(line, ' ').is("-")) {}
        const word type = split(line, ' ');
        (void)split(line, ' ');
        if (version_2_wanted ? type.is("cgroup2") : type.is("cgroup") && has_word(line, "memory")) found = {point, root};
    }
    return {unescape(found.point), unescape(found.root)};
}

// The directory of a control group.
class group_path {
public:
    // False if it is too long.
    bool set(word point, word inside) noexcept {
        if (point.length + inside.length > max_length) return false;
        std::memcpy(text_, point.data, point.length);
        if (inside.length != 0) std::memcpy(text_ + point.length, inside.data, inside.length);
        mount_ = point.length;
        length_ = point.length + inside.length;
        drop_slashes();
        return true;
    }
    // Changes to the parent group. False if this is the mounted one.
    bool leave() noexcept {
        if (length_ <= mount_) return false;
        while (length_ > mount_ && text_[length_ - 1] != '/') --length_;
        drop_slashes();
        return true;
    }
    // Returns the name of a file in the group, until the next call.
    const char* file(const char* name) noexcept {
        std::memcpy(text_ + length_, name, std::strlen(name) + 1);
        return text_;
    }
    // Returns the number in a file of the group; SIZE_MAX if it says "max" or cannot be read.
    std::size_t bytes_in(const char* name) noexcept {
        const small_file<32> found(file(name));
        return found.text[0] >= '0' && found.text[0] <= '9' ? parse_number(found.text) : SIZE_MAX;
    }
    [[nodiscard]] bool exists() noexcept {
        const errno_guard unchanged;
        const long folder = open_system_file(file(""));
        if (folder >= 0) (void)syscall(SYS_close, folder);
        return folder >= 0;
    }

private:
    void drop_slashes() noexcept {
        while (length_ > mount_ && text_[length_ - 1] == '/') --length_;
    }
    static constexpr std::size_t max_length = 4000;    // the system opens no longer path
    char text_[max_length + 64];
    std::size_t mount_ = 0;
    std::size_t length_ = 0;
};

// Sets `least` to the lowest figure(path, version) of the process's group that can limit its memory and of its parents as far as they are
// visible. Leaves it and returns false if there is such a group and it is not visible: not mounted, or outside of what is mounted, as in
// some containers.
bool find_least(std::size_t& least, std::size_t (*figure)(group_path&, const group_version&) noexcept) noexcept {
    // Lines of the form number:controllers:path. Version 2 has one line, with an empty list of controllers; it limits memory only if no
    // line of version 1 does.
    const whole_file groups("/proc/self/cgroup");
    word lines = groups.text();
    word path;
    bool is_version_1 = false;
    while (lines.length != 0 && !is_version_1) {
        word line = split(lines, '\n');
        (void)split(line, ':');
        const word controllers = split(line, ':');
        is_version_1 = has_word(controllers, "memory");
        if (is_version_1 || controllers.length == 0) path = line;
    }
    if (path.length == 0) return true;
    const whole_file mounts("/proc/self/mountinfo");
    const group_mount mount = find_mount(mounts.text(), !is_version_1);
    if (mount.point.length == 0) return false;
    // The group's path below the mounted group.
    if (!mount.root.is("/")) {
        const std::size_t above = mount.root.length;
        if (path.length < above || std::memcmp(path.data, mount.root.data, above) != 0 ||
            (path.length > above && path.data[above] != '/')) {
            return false;
        }
        path = {path.data + above, path.length - above};
    }
    if (path.length >= 3 && std::memcmp(path.data, "/..", 3) == 0) return false;    // outside of this namespace
    group_path group;
    if (!group.set(mount.point, path) || !group.exists()) return false;
    const group_version& version = is_version_1 ? version_1 : version_2;
    do {
        least = std::min(least, figure(group, version));
    } while (group.leave());
    return true;
}

std::size_t limit_of(group_path& group, const group_version& version) noexcept {
    const std::size_t limit = group.bytes_in(version.limit);
    return version.soft_limit == nullptr ? limit : std::min(limit, group.bytes_in(version.soft_limit));
}

// Returns the number after `name` and a space at the start of a line; 0 if that is missing.
std::size_t parse_entry(word lines, const char* name) noexcept {
    while (lines.length != 0) {
        word line = split(lines, '\n');
        if (!split(line, ' ').is(name)) continue;
        char digits[32] = {};
        std::memcpy(digits, line.data, std::min(line.length, sizeof digits - 1));
        return parse_number(digits);
    }
    return 0;
}

// Returns what the group's limit leaves, inactive file pages counted as free; SIZE_MAX if it has none, or its use cannot be read.
std::size_t available_in(group_path& group, const group_version& version) noexcept {
    const std::size_t limit = limit_of(group, version);
    // Version 1 without a limit states the largest number that it can.
    if (limit == SIZE_MAX || exceeds_ram_and_swap(limit)) return SIZE_MAX;
    const std::size_t used = group.bytes_in(version.usage);
    if (used == SIZE_MAX) return SIZE_MAX;
    const whole_file counts(group.file("/memory.stat"));
    const std::size_t unneeded = parse_entry(counts.text(), version.inactive);
    const std::size_t taken = used - std::min(used, unneeded);
    return limit - std::min(limit, taken);
}

}    // namespace

std::size_t lowest_cgroup_limit() noexcept {
    std::size_t least = SIZE_MAX;
    (void)find_least(least, limit_of);
    return least;
}

bool memory_limits_are_visible() noexcept {
    std::size_t least = 0;
    return find_least(least, [](group_path&, const group_version&) noexcept { return SIZE_MAX; });
}

std::size_t available_memory() noexcept {
    constexpr char available[] = "\nMemAvailable:";
    const small_file<512> machine("/proc/meminfo");
    const char* line = std::strstr(machine.text, available);
    std::size_t least = SIZE_MAX;
    if (line != nullptr) {
        for (line += sizeof available - 1; *line == ' ';) ++line;
        least = parse_number(line);
        least = least > SIZE_MAX / 1024 ? SIZE_MAX : least * 1024;
    }
    (void)find_least(least, available_in);
    return least;
}

}}}    // namespace headroom::detail
