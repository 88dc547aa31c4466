// Pages on Linux. Written for kernels from 4.14; what newer ones add (populating in one call, guard markers, moving
// without unmapping, names) is tried and, where missing, reported as function_not_supported.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include <headroom/pages.hpp>

#include "system/calls.hpp"
#include "system/linux.hpp"
#include "system/platform.hpp"
#include "system/waiting.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

// There when the program is built with AddressSanitizer, whether or not the library is.
extern "C" {
[[gnu::weak]] void __lsan_register_root_region(const void* data, std::size_t bytes);
[[gnu::weak]] void __lsan_unregister_root_region(const void* data, std::size_t bytes);
}

// There when the program is built with AddressSanitizer.
extern "C" [[gnu::weak]] void __asan_init();

// There when the program is built with MemorySanitizer, which learns of neither madvise nor mremap by itself.
extern "C" {
[[gnu::weak]] void __msan_unpoison(const volatile void* data, std::size_t bytes);
[[gnu::weak]] void __msan_copy_shadow(const volatile void* to, const volatile void* from, std::size_t bytes);
}

// There when the program runs under heaptrack.
extern "C" {
[[gnu::weak]] void heaptrack_realloc(void* from, std::size_t bytes, void* to);
[[gnu::weak]] void heaptrack_free(void* data);
}

// The C library's headers may be older than the kernel.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
namespace headroom { inline namespace v0_1 {
namespace {

// (One function for all calls on a range, and not one for each: they are many, and all alike.)
HEADROOM_NOINLINE std::error_code call_on(page_call kind, page_range range, int (*call)(void*, std::size_t, int),
                                          int how) noexcept {
    return detail::attempt(kind, [=] { return call(range.data, range.bytes, how); });
}
HEADROOM_ALWAYS_INLINE std::error_code advise(page_call kind, page_range range, int advice) noexcept {
    return call_on(kind, range, madvise, advice);
}
HEADROOM_ALWAYS_INLINE std::error_code allow(page_call kind, page_range range, int rights) noexcept {
    return call_on(kind, range, mprotect, rights);
}

// The pages of the range are fresh: whatever they held, they read as zero.
std::error_code emptied(page_range range) noexcept {
    const std::error_code error = advise(page_call::decommit, range, MADV_DONTNEED);
    if (!error && __msan_unpoison != nullptr) __msan_unpoison(range.data, range.bytes);
    return error;
}

// (errno is its caller's to keep.)
page_range map(std::size_t bytes, access initial, std::error_code& error) noexcept {
    error.clear();
    if (const int refused = detail::intercept(page_call::reserve)) {
        error = detail::system_error(refused);
        return {};
    }
    const std::size_t limit = detail::address_space_limit();
    const int rights = initial == access::read_write  ? PROT_READ | PROT_WRITE
                       : initial == access::read_only ? PROT_READ
                                                      : PROT_NONE;
    void* const data = limit != 0 && bytes > limit
                           ? (errno = ENOMEM, MAP_FAILED)
                           : mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        detail::note_refusal();
        error = detail::system_error(errno);
        return {};
    }
    return {static_cast<std::byte*>(data), bytes};
}

std::error_code unmap(std::byte* data, std::size_t bytes) noexcept {
    if (bytes == 0) return {};
    return call_on(page_call::release, {data, bytes}, [](void* at, std::size_t count, int) { return munmap(at, count); }, 0);
}

std::uintptr_t address(const std::byte* data) noexcept { return reinterpret_cast<std::uintptr_t>(data); }

// The system call itself, whose headers not every C library brings: std::atomic's functions keep a table of waiters besides.
constexpr long futex_wait = 0 | 128, futex_wake = 1 | 128;    // within the process
long futex(const std::atomic<std::uint32_t>& word, long what, std::uint32_t value) noexcept {
    return syscall(SYS_futex, &word, what, value, nullptr, nullptr, 0);
}

void read_small_file(const char* path, char* text, std::size_t most) noexcept {
    const detail::kept_errno unchanged;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t length = read(file, text, most);
    text[length > 0 ? length : 0] = '\0';
    close(file);
}

// The first bytes of a small system file, 0-terminated; empty when it cannot be read.
template <std::size_t Most = 128>
struct small_file {
    char text[Most] = {};
    HEADROOM_ALWAYS_INLINE explicit small_file(const char* path) noexcept { read_small_file(path, text, sizeof text - 1); }
};

// Whether the system promises no more memory than it has (overcommit mode 2).
bool promises_are_charged() noexcept {
    static constinit std::atomic<int> known{0};    // 0: not asked, 1: no, 2: yes
    int answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
        answer = small_file<>("/proc/sys/vm/overcommit_memory").text[0] == '2' ? 2 : 1;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == 2;
}

// (Not std::has_single_bit, which is a call where the processor may lack the instruction.)
constexpr bool is_power_of_two(std::size_t value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

// The number that the text begins with; 0 where there is none.
std::size_t number(const char* text) noexcept {
    std::size_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        const auto digit = static_cast<std::size_t>(*text - '0');
        if (value > (SIZE_MAX - digit) / 10) return SIZE_MAX;
        value = 10 * value + digit;
    }
    return value;
}

// The first `wanted` in the text, or its end.
const char* find(const char* text, char wanted) noexcept {
    while (*text != '\0' && *text != wanted) ++text;
    return text;
}

// The name of a file, put together.
struct file_name {
    char text[512] = {};
    std::size_t length = 0;
    void add(const char* part, std::size_t bytes) noexcept {
        for (; bytes != 0 && *part != '\0' && length < sizeof text - 1; --bytes) text[length++] = *part++;
    }
};

// Where the groups are: version 2 in the first so many bytes of it, the memory's of version 1 in all of it.
constexpr char all_groups[] = "/sys/fs/cgroup/memory";
constexpr std::size_t groups_of_version_2 = 14;

// The least limit that `file` states in the group `path` (its first `length` bytes), or in a group above it.
std::size_t least_limit(std::size_t mount, const char* path, std::size_t length, const char* file) noexcept {
    std::size_t least = SIZE_MAX;
    for (bool more = true; more;) {
        while (length != 0 && path[length - 1] == '/') --length;
        file_name name;
        name.add(all_groups, mount);
        name.add(path, length);
        name.add(file, SIZE_MAX);
        const small_file<> limit(name.text);
        // (The other answers are "max" and none.)
        if (limit.text[0] >= '0' && limit.text[0] <= '9') least = std::min(least, number(limit.text));
        more = length != 0;
        while (length != 0 && path[length - 1] != '/') --length;
    }
    return least;
}

}    // namespace

namespace detail {

// Whether the system refuses what it does not know. QEMU's user mode answers yes to any advice, and forgets that a mapping
// which was moved with MREMAP_DONTUNMAP is still there: guards would be none, and warm memory would fault.
bool answers_can_be_trusted(page_range range) noexcept {
    static constinit std::atomic<int> known{0};    // 0: not asked, 1: no, 2: yes
    int answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
        constexpr int unheard_of = 0x7ffffff0;
        answer = madvise(range.data, range.bytes, unheard_of) == 0 ? 1 : 2;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == 2;
}

}    // namespace detail

std::size_t huge_page_size() noexcept {
    static constinit std::atomic<std::size_t> known{1};    // 1: not asked
    std::size_t bytes = known.load(std::memory_order_relaxed);
    if (bytes == 1) {
        const detail::kept_errno unchanged;
        bytes = 0;
        // Where they are switched off for everybody, asking for them would only commit more and gain nothing.
        // (In two parts, for the program's sake: two such names are as long as a function.)
        file_name name;
        name.add("/sys/kernel/mm/transparent_hugepage/", SIZE_MAX);
        const std::size_t folder = name.length;
        name.add("enabled", SIZE_MAX);
        const small_file<> mode(name.text);
        if (mode.text[0] != '\0' && std::strstr(mode.text, "[never]") == nullptr) {
            name.length = folder;
            name.add("hpage_pmd_size", SIZE_MAX);    // the longer of the two
            bytes = number(small_file<>(name.text).text);
        }
        if (!is_power_of_two(bytes)) bytes = 0;
        if (syscall(SYS_prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) bytes = 0;    // and for this process
        known.store(bytes, std::memory_order_relaxed);
    }
    return bytes;
}

page_range reserve(std::size_t bytes, std::size_t alignment, std::error_code& error, access initial) noexcept {
    const detail::kept_errno unchanged;
    const std::size_t page = page_size();
    if (bytes == 0 || bytes > SIZE_MAX / 2 || !is_power_of_two(alignment) || alignment > SIZE_MAX / 4) {
        error = detail::system_error(ENOMEM);
        return {};
    }
    bytes = detail::round_up(bytes, page);
    if (alignment < page) alignment = page;
    // Often the system's own choice is aligned; then one call is enough.
    page_range range = map(bytes, initial, error);
    if (error) return {};
    if (address(range.data) % alignment != 0) {
        if ((error = unmap(range.data, bytes))) {
            detail::let_wait(range);
            return {};
        }
        range = map(bytes + alignment, initial, error);
        if (error) return {};
        const std::size_t before = (alignment - address(range.data) % alignment) % alignment;
        std::byte* const aligned = range.data + before;
        // The tail first: if giving it back is refused, what remains is one mapping that can be given back whole.
        if ((error = unmap(aligned + bytes, alignment - before))) {
            if (unmap(range.data, range.bytes)) detail::let_wait(range);
            return {};
        }
        if ((error = unmap(range.data, before))) {
            if (unmap(range.data, before + bytes)) detail::let_wait({range.data, before + bytes});
            return {};
        }
        range = {aligned, bytes};
    }
    // A sparse gigabyte in a core file helps nobody. (Inaccessible ranges are left out by the system.)
    if (initial != access::none) (void)advise(page_call::other, {range.data, bytes}, MADV_DONTDUMP);
    return range;
}

std::error_code release(page_range range) noexcept { return unmap(range.data, range.bytes); }

std::error_code commit(page_range range) noexcept {
    // Never by mapping over the range: where that is refused half-way it leaves a hole for somebody else to fall into.
    return allow(page_call::commit, range, PROT_READ | PROT_WRITE);
}

std::error_code decommit(page_range range) noexcept {
    if (promises_are_charged()) {
        // There, dropping the pages is not enough: the promise stays charged until something is mapped over it.
        const std::error_code error = detail::attempt(page_call::decommit, [=] {
            return mmap(range.data, range.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
                           MAP_FAILED
                       ? -1
                       : 0;
        });
        if (!error) return {};
    }
    // First empty, then inaccessible: whichever is refused, what the caller still counts as committed can be used. The other
    // way round a refusal would have to be undone, by a call that may be refused too.
    if (auto error = emptied(range)) return error;
    return allow(page_call::protect, range, PROT_NONE);
}

std::error_code discard(page_range range) noexcept { return emptied(range); }

std::error_code protect(page_range range, access allowed) noexcept {
    const int rights = allowed == access::none ? PROT_NONE : allowed == access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    return allow(page_call::protect, range, rights);
}

std::error_code prefault(page_range range) noexcept {
    static constinit std::atomic<int> known{0};    // 0: not asked, 1: no (kernels before 5.14), 2: yes
    int answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
        const detail::kept_errno unchanged;
        // Asked about no bytes at all: EINVAL would otherwise have other reasons, a page that is read-only for one.
        answer = detail::answers_can_be_trusted(range) && madvise(range.data, 0, MADV_POPULATE_WRITE) == 0 ? 2 : 1;
        known.store(answer, std::memory_order_relaxed);
    }
    if (answer == 1) return std::make_error_code(std::errc::function_not_supported);
    return advise(page_call::prefault, range, MADV_POPULATE_WRITE);
}

std::error_code advise_huge(page_range range, bool wanted) noexcept {
    return advise(page_call::other, range, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

std::error_code remap(page_range from, page_range to) noexcept {
    const detail::kept_errno unchanged;
    if (!detail::answers_can_be_trusted(from)) return std::make_error_code(std::errc::function_not_supported);
    const std::error_code error = detail::attempt(page_call::remap, [=] {
        return mremap(from.data, from.bytes, to.bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to.data) == MAP_FAILED
                   ? -1
                   : 0;
    });
    if (!error) {
        if (__msan_copy_shadow != nullptr) {
            __msan_copy_shadow(to.data, from.data, to.bytes);
            __msan_unpoison(from.data, from.bytes);
        }
        return {};
    }
    // The system may have unmapped the target before it gave up. Fill the hole if there is one; where there is none, this
    // finds the target in place and does nothing. (Kernels before 4.17 do not know the flag: they map somewhere else then.)
    void* const filled =
        mmap(to.data, to.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (filled != MAP_FAILED && filled != to.data) (void)munmap(filled, to.bytes);
    return std::make_error_code(std::errc::function_not_supported);
}

namespace detail {

void look_for_pointers(page_range range, bool wanted) noexcept {
    if (wanted) {
        if (__lsan_register_root_region != nullptr) __lsan_register_root_region(range.data, range.bytes);
    } else {
        if (__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(range.data, range.bytes);
    }
}

void report_memory(std::byte* base, std::size_t bytes) noexcept {
    if (!memory_is_reported()) return;
    if (bytes == 0) {
        heaptrack_free(base);
    } else {
        heaptrack_realloc(base, bytes, base);
    }
}

residency resident(page_range range) noexcept {
    const kept_errno unchanged;
    const std::size_t page = real_page_size();
    unsigned char seen[1024];
    residency found;
    for (std::size_t at = 0; at < range.bytes;) {
        const std::size_t now = std::min(range.bytes - at, page * sizeof seen);
        if (mincore(range.data + at, now, seen) != 0) return {range.bytes, range.bytes};
        for (std::size_t i = 0; i < now / page; ++i) {
            if ((seen[i] & 1) == 0) continue;
            found.bytes += page;
            found.reach = at + (i + 1) * page;
        }
        at += now;
    }
    return found;
}

void offer_memory(page_range range) noexcept { (void)advise(page_call::other, range, MADV_FREE); }

bool pointers_are_followed() noexcept { return __lsan_register_root_region != nullptr; }

bool memory_is_reported() noexcept { return heaptrack_realloc != nullptr && heaptrack_free != nullptr; }

bool strays_are_looked_for() noexcept { return __asan_init != nullptr; }

bool readable_means_in_use() noexcept {
#ifdef RUNNING_ON_VALGRIND
    return RUNNING_ON_VALGRIND != 0;
#else
    return false;
#endif
}

std::size_t memory_of_group() noexcept {
    // Lines of the form number:controllers:path; version 2 has one group for all, whose list of controllers is empty. In a
    // container the path may be one of the host's, which is not there: then the mount itself is the group.
    const small_file<4096> groups("/proc/self/cgroup");
    std::size_t least = SIZE_MAX;
    for (const char* line = groups.text; *line != '\0';) {
        const char* const end = find(line, '\n');
        const char* const controllers = find(line, ':');
        if (controllers >= end) break;
        const char* const path = find(controllers + 1, ':');
        if (path >= end) break;
        const auto bytes = static_cast<std::size_t>(end - (path + 1));
        const bool all = path == controllers + 1;
        const char* const memory = std::strstr(controllers, "memory");
        if (all) {
            least = std::min(least, least_limit(groups_of_version_2, path + 1, bytes, "/memory.max"));
        } else if (memory != nullptr && memory < path) {
            least = std::min(least, least_limit(sizeof all_groups, path + 1, bytes, "/memory.limit_in_bytes"));
        }
        line = *end == '\n' ? end + 1 : end;
    }
    return least;
}

void on_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept {
    (void)pthread_atfork(before, after_in_parent, after_in_child);
}

void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    const kept_errno unchanged;    // (only who waits is told something by it)
    if (word.load(std::memory_order_relaxed) == value) (void)futex(word, futex_wait, value);
}
void wake_one(std::atomic<std::uint32_t>& word) noexcept { (void)futex(word, futex_wake, 1); }
void wake_all(std::atomic<std::uint32_t>& word) noexcept { (void)futex(word, futex_wake, INT_MAX); }

}    // namespace detail
}}    // namespace headroom

#ifdef HEADROOM_GDB_SCRIPT
// The debugger's view of the containers travels inside the program (kind 4: Python text). Here, because every program that
// uses Headroom on an ELF system links this file.
asm(".pushsection \".debug_gdb_scripts\", \"MS\",%progbits,1\n"
    ".byte 4\n"
    ".ascii \"headroom-printers\\n\"\n"
    ".incbin \"" HEADROOM_GDB_SCRIPT
    "\"\n"
    ".byte 0\n"
    ".popsection\n");
#endif
