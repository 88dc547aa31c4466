// Linux: memory, control groups and tools of the process, and waiting threads.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>

#include <headroom/pages.hpp>

#include "system/linux.hpp"
#include "system/platform.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

// Present in programs built with AddressSanitizer, or with its leak checker alone.
extern "C" {
[[gnu::weak]] void __lsan_register_root_region(const void* data, std::size_t bytes);
[[gnu::weak]] void __lsan_unregister_root_region(const void* data, std::size_t bytes);
}

// Present under heaptrack.
extern "C" {
[[gnu::weak]] void heaptrack_realloc(void* from, std::size_t bytes, void* to);
[[gnu::weak]] void heaptrack_free(void* data);
}

namespace headroom { inline namespace v0_1 {
namespace {

// The futex system call, whose header not every C library has. std::atomic's functions also keep a table of waiters.
constexpr long futex_wait = 0 | 128, futex_wake = 1 | 128;    // private to the process
long futex(const std::atomic<std::uint32_t>& word, long what, std::uint32_t value) noexcept {
    return syscall(SYS_futex, &word, what, value, nullptr, nullptr, 0);
}

// System calls, because the C library's are cancellation points. Clears the buffer for MemorySanitizer, which does not see them.
void read_small_file(const char* path, char* text, std::size_t most) noexcept {
    const detail::errno_guard unchanged;
    std::memset(text, 0, most + 1);
    const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return;
    (void)syscall(SYS_read, file, text, most);
    (void)syscall(SYS_close, file);
}

// The first bytes of a small system file, 0-terminated; empty if it cannot be read.
template <std::size_t Most = 128>
struct small_file {
    char text[Most];
    HEADROOM_ALWAYS_INLINE explicit small_file(const char* path) noexcept { read_small_file(path, text, sizeof text - 1); }
};

// Returns the number at the start of the text; 0 if there is none.
std::size_t parse_number(const char* text) noexcept {
    std::size_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        const auto digit = static_cast<std::size_t>(*text - '0');
        if (value > (SIZE_MAX - digit) / 10) return SIZE_MAX;
        value = 10 * value + digit;
    }
    return value;
}

// Returns the first `wanted` in the text, or its end.
const char* find_char(const char* text, char wanted) noexcept {
    while (*text != '\0' && *text != wanted) ++text;
    return text;
}

// True if "memory" is one of the controllers.
bool has_memory_controller(const char* controllers, const char* end) noexcept {
    for (; controllers < end; ++controllers) {
        const char* word = "memory";
        for (const char* at = controllers + 1; *word != '\0' && *at == *word; ++at) ++word;
        if (*word == '\0') return true;
    }
    return false;
}

// Builds a file name from parts.
struct file_name {
    char text[512];
    std::size_t length = 0;
    void add(const char* part, std::size_t bytes) noexcept {
        for (; bytes != 0 && *part != '\0' && length < sizeof text - 1; --bytes) text[length++] = *part++;
        text[length] = '\0';
    }
};

// Directory of the control groups: of version 2 its first bytes, of version 1's memory controller all of it.
constexpr char all_groups[] = "/sys/fs/cgroup/memory";
constexpr std::size_t groups_of_version_2 = 14;

// File names of the two versions of control groups.
struct group_version {
    std::size_t mount;    // length used of all_groups
    const char* limit;
    const char* usage;
    const char* inactive;    // line of memory.stat that counts inactive file pages
};
constexpr group_version version_1{sizeof all_groups, "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                  "\ntotal_inactive_file "};
constexpr group_version version_2{groups_of_version_2, "/memory.max", "/memory.current", "\ninactive_file "};

// A control group of the process, or a parent of one: the first `length` bytes of `path`.
struct control_group {
    const group_version& version;
    const char* path;
    std::size_t length;

    template <std::size_t Most>
    [[nodiscard]] small_file<Most> read(const char* file) const noexcept {
        file_name name;
        name.add(all_groups, version.mount);
        name.add(path, length);
        name.add(file, SIZE_MAX);
        return small_file<Most>(name.text);
    }
    // Returns the number in a file of the group; SIZE_MAX if it says "max" or cannot be read.
    [[nodiscard]] std::size_t number_in(const char* file) const noexcept {
        const auto text = read<32>(file);
        return text.text[0] >= '0' && text.text[0] <= '9' ? parse_number(text.text) : SIZE_MAX;
    }
};

// Returns the number after `name` in the text; 0 if that is missing.
std::size_t parse_number_after(const char* text, const char* name) noexcept {
    const char* const found = std::strstr(text, name);
    return found == nullptr ? 0 : parse_number(found + std::strlen(name));
}

// Calls visit(group) for each control group of the process that can limit its memory, and for its parents.
template <class Visit>
void for_each_memory_cgroup(Visit visit) noexcept {
    // Lines of the form number:controllers:path. Version 2 has one line, with an empty list of controllers. In a container the path may be
    // the host's and missing here: then the mount itself is the group.
    const small_file<4096> groups("/proc/self/cgroup");
    for (const char* line = groups.text; *line != '\0';) {
        const char* const end = find_char(line, '\n');
        const char* const controllers = find_char(line, ':');
        if (controllers >= end) break;
        const char* const path = find_char(controllers + 1, ':');
        if (path >= end) break;
        const bool all = path == controllers + 1;
        if (all || has_memory_controller(controllers, path)) {
            control_group group{all ? version_2 : version_1, path + 1, static_cast<std::size_t>(end - (path + 1))};
            for (bool more = true; more;) {
                while (group.length != 0 && group.path[group.length - 1] == '/') --group.length;
                visit(group);
                more = group.length != 0;
                while (group.length != 0 && group.path[group.length - 1] != '/') --group.length;
            }
        }
        line = *end == '\n' ? end + 1 : end;
    }
}

}    // namespace

std::size_t huge_page_size() noexcept {
    static constinit std::atomic<std::size_t> known{1};    // 1: not asked
    std::size_t bytes = known.load(std::memory_order_relaxed);
    if (bytes == 1) {
        const detail::errno_guard unchanged;
        bytes = 0;
        // Does not use huge pages if they are switched off: advice would only commit more. The name is built in parts, because two such
        // names are as long as a function.
        file_name name;
        name.add("/sys/kernel/mm/transparent_hugepage/", SIZE_MAX);
        const std::size_t folder = name.length;
        name.add("enabled", SIZE_MAX);
        const small_file<> mode(name.text);
        const char* const chosen = find_char(mode.text, '[');    // as in "always [madvise] never"
        if (*chosen != '\0' && chosen[1] != 'n') {
            name.length = folder;
            name.add("hpage_pmd_size", SIZE_MAX);    // the longer of the two
            bytes = parse_number(small_file<>(name.text).text);
        }
        if ((bytes & (bytes - 1)) != 0) bytes = 0;
        if (syscall(SYS_prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) bytes = 0;    // switched off for this process
        known.store(bytes, std::memory_order_relaxed);
    }
    return bytes;
}

namespace detail {

bool overcommit_is_off() noexcept {
    static constinit std::atomic<int> known{0};    // 0: not asked, 1: no, 2: yes
    int answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
        answer = small_file<>("/proc/sys/vm/overcommit_memory").text[0] == '2' ? 2 : 1;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == 2;
}

void set_leak_root(page_range range, bool wanted) noexcept {
    if (wanted) {
        if (__lsan_register_root_region != nullptr) __lsan_register_root_region(range.data, range.bytes);
    } else {
        if (__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(range.data, range.bytes);
    }
}

void tell_heap_profiler(std::byte* base, std::size_t bytes) noexcept {
    if (!heap_profiler_present()) return;
    if (bytes == 0) {
        heaptrack_free(base);
    } else {
        heaptrack_realloc(base, bytes, base);
    }
}

bool leak_checker_present() noexcept { return __lsan_register_root_region != nullptr; }

bool heap_profiler_present() noexcept { return heaptrack_realloc != nullptr && heaptrack_free != nullptr; }

bool memory_checker_present() noexcept { return leak_checker_present(); }

bool valgrind_present() noexcept {
#ifdef RUNNING_ON_VALGRIND
    return RUNNING_ON_VALGRIND != 0;
#else
    return false;
#endif
}

std::size_t lowest_cgroup_limit() noexcept {
    std::size_t least = SIZE_MAX;
    for_each_memory_cgroup([&](const control_group& group) { least = std::min(least, group.number_in(group.version.limit)); });
    return least;
}

bool exceeds_ram_and_swap(std::size_t bytes) noexcept {
    static constinit std::atomic<std::size_t> known{0};
    if (bytes <= known.load(std::memory_order_relaxed)) return false;
    const errno_guard unchanged;
    struct sysinfo all{};
    if (syscall(SYS_sysinfo, &all) != 0) return false;
    const std::size_t unit = all.mem_unit == 0 ? 1 : all.mem_unit;
    const std::size_t units = std::size_t{all.totalram} + all.totalswap;
    const std::size_t most = units > SIZE_MAX / unit ? SIZE_MAX : units * unit;
    known.store(most, std::memory_order_relaxed);
    return bytes > most;
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
    for_each_memory_cgroup([&](const control_group& group) {
        const std::size_t limit = group.number_in(group.version.limit);
        // Version 1 without a limit states the largest number that it can.
        if (limit == SIZE_MAX || exceeds_ram_and_swap(limit)) return;
        const std::size_t used = group.number_in(group.version.usage);
        if (used == SIZE_MAX) return;
        const std::size_t unneeded = parse_number_after(group.read<4096>("/memory.stat").text, group.version.inactive);
        const std::size_t taken = used - std::min(used, unneeded);
        least = std::min(least, limit - std::min(limit, taken));
    });
    return least;
}

namespace {

constinit std::atomic<bool> unloading{false};

// At the end of a program static objects are destroyed before this function runs, at dlclose after it. So their destructors find
// `unloading` set only while the module is unloaded. Other threads at the end of a program find it set later.
[[gnu::destructor]] void on_unload() noexcept { unloading.store(true, std::memory_order_relaxed); }

}    // namespace

bool module_is_unloading() noexcept { return unloading.load(std::memory_order_relaxed); }

void on_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept {
    (void)pthread_atfork(before, after_in_parent, after_in_child);
}

void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    const errno_guard unchanged;    // the caller does not see its errors
    if (word.load(std::memory_order_relaxed) == value) (void)futex(word, futex_wait, value);
}
void wake_one(std::atomic<std::uint32_t>& word) noexcept { (void)futex(word, futex_wake, 1); }
void wake_all(std::atomic<std::uint32_t>& word) noexcept { (void)futex(word, futex_wake, INT_MAX); }

}    // namespace detail
}}    // namespace headroom
