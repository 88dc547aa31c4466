// SPDX-License-Identifier: MIT
// Linux: memory and tools of the process, system files, and waiting threads.
#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
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

// Returns the first `wanted` in the text, or its end.
const char* find_char(const char* text, char wanted) noexcept {
    while (*text != '\0' && *text != wanted) ++text;
    return text;
}

// Builds a file name from parts.
struct file_name {
    char text[128];
    std::size_t length = 0;
    void add(const char* part, std::size_t bytes) noexcept {
        for (; bytes != 0 && *part != '\0' && length < sizeof text - 1; --bytes) text[length++] = *part++;
        text[length] = '\0';
    }
};

}    // namespace

namespace {

// Bytes of a huge page, 0 if there are none, plus 1 if ranges get them unasked.
std::size_t huge_page_facts() noexcept {
    static constinit std::atomic<std::size_t> known{SIZE_MAX};    // not asked
    std::size_t facts = known.load(std::memory_order_relaxed);
    if (facts == SIZE_MAX) {
        const detail::errno_guard unchanged;
        std::size_t bytes = 0;
        // Does not use huge pages if they are switched off: advice would only commit more. The name is built in parts, because two such
        // names are as long as a function.
        file_name name;
        name.add("/sys/kernel/mm/transparent_hugepage/", SIZE_MAX);
        const std::size_t folder = name.length;
        name.add("enabled", SIZE_MAX);
        const detail::small_file<> mode(name.text);
        const char* const chosen = find_char(mode.text, '[');    // as in "always [madvise] never"
        if (*chosen != '\0' && chosen[1] != 'n') {
            name.length = folder;
            name.add("hpage_pmd_size", SIZE_MAX);    // the longer of the two
            bytes = detail::parse_number(detail::small_file<>(name.text).text);
        }
        if ((bytes & (bytes - 1)) != 0) bytes = 0;
        // Switched off for this process? A filter that ends it at this call also hides the files above.
        if (bytes != 0 && syscall(SYS_prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) bytes = 0;
        facts = bytes + (bytes != 0 && chosen[1] == 'a');
        known.store(facts, std::memory_order_relaxed);
    }
    return facts;
}

}    // namespace

std::size_t huge_page_size() noexcept { return huge_page_facts() & ~std::size_t{1}; }

namespace detail {

long open_system_file(const char* path) noexcept {
    const char* const root = hook_of_test(&test_hooks::system_root);
    if (root == nullptr) return syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    const long folder = syscall(SYS_openat, AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    const long file = syscall(SYS_openat, folder, path + 1, O_RDONLY | O_CLOEXEC, 0);
    (void)syscall(SYS_close, folder);
    return file;
}

void read_small_file(const char* path, char* text, std::size_t most) noexcept {
    const errno_guard unchanged;
    std::memset(text, 0, most + 1);
    const long file = open_system_file(path);
    if (file < 0) return;
    (void)syscall(SYS_read, file, text, most);
    (void)syscall(SYS_close, file);
}

std::size_t parse_number(const char* text) noexcept {
    std::size_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        const auto digit = static_cast<std::size_t>(*text - '0');
        if (value > (SIZE_MAX - digit) / 10) return SIZE_MAX;
        value = 10 * value + digit;
    }
    return value;
}

namespace {

// Returns the first character of /proc/sys/vm/overcommit_memory; 1 if it cannot be read. Reads it once.
int overcommit_mode() noexcept {
    static constinit std::atomic<int> known{0};
    int answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
        answer = std::max(1, static_cast<int>(small_file<>("/proc/sys/vm/overcommit_memory").text[0]));
        known.store(answer, std::memory_order_relaxed);
    }
    return answer;
}

}    // namespace

bool overcommit_is_off() noexcept { return overcommit_mode() == '2'; }
bool charges_count() noexcept { return overcommit_is_off(); }
bool system_files_are_readable() noexcept { return overcommit_mode() != 1; }

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

namespace {

constinit std::atomic<bool> unloading{false};

// At the end of a program static objects are destroyed before this function runs, at dlclose after it. So their destructors find
// `unloading` set only while the module is unloaded. Other threads at the end of a program find it set later.
[[gnu::destructor]] void on_unload() noexcept { unloading.store(true, std::memory_order_relaxed); }

}    // namespace

bool huge_pages_come_unasked() noexcept { return huge_page_facts() % 2 != 0; }

const char* environment_variable(const char* name) noexcept {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): as the C library reads its own
    return getauxval(AT_SECURE) != 0 ? nullptr : std::getenv(name);
}

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
