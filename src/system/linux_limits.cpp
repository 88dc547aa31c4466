// SPDX-License-Identifier: MIT
// Linux: limits of a process. Mappings, locked memory, fences.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include <headroom/pages.hpp>

#include "system/linux.hpp"
#include "system/platform.hpp"
#include "system/cancellation_guard.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Returns the number at the start of a small file; 0 if it cannot be read.
std::size_t number_or_zero(const char* path) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[32] = {};
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? std::strtoul(text, nullptr, 10) : 0;
}

// Returns how many mappings a process may have; 0 if unknown.
std::size_t allowed_mappings() noexcept { return number_or_zero("/proc/sys/vm/max_map_count"); }

}    // namespace

std::size_t max_mappings() noexcept {
    const errno_guard unchanged;
    const cancellation_guard throughout;
    const std::size_t most = allowed_mappings();
    return most != 0 ? most : SIZE_MAX;
}

mapping_count count_mappings() noexcept {
    const errno_guard unchanged;
    const cancellation_guard throughout;
    const std::size_t most = allowed_mappings();
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    char text[4096];
    std::size_t used = 0;
    for (ssize_t length; (length = read(file, text, sizeof text)) > 0;)
        used += static_cast<std::size_t>(std::count(text, text + length, '\n'));
    close(file);
    return {used, most};
}

bool mappings_are_locked() noexcept {
    // No call tells, but locked pages cannot be discarded. Not by mincore(): filters of services lack it, and gVisor answers that all
    // pages are resident.
    const errno_guard unchanged;
    const std::size_t page = real_page_size();
    void* const probe = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) return false;
    const bool locked = madvise(probe, page, MADV_DONTNEED) != 0 && errno == EINVAL;
    (void)munmap(probe, page);
    return locked;
}

namespace {

// membarrier's commands; the C library's headers may be older than the kernel.
constexpr int barrier_query = 0, barrier_private = 1 << 3, barrier_register_private = 1 << 4;

}    // namespace

bool other_threads_can_be_fenced() noexcept {
    static constinit std::atomic<int> known{0};    // 0: not asked, 1: no, 2: yes
    int answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
        const errno_guard unchanged;
        // Registering is immediate while a process has one thread, and takes milliseconds later. A forked child is registered.
        const long commands = system_files_are_readable() ? syscall(SYS_membarrier, barrier_query, 0) : -1;
        const bool there = commands >= 0 && (commands & barrier_private) != 0 && (commands & barrier_register_private) != 0;
        answer = there && syscall(SYS_membarrier, barrier_register_private, 0) == 0 ? 2 : 1;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == 2;
}

bool fence_other_threads() noexcept {
    return !make_call(page_call::other, [] { return static_cast<int>(syscall(SYS_membarrier, barrier_private, 0)); });
}

}    // namespace detail
}}    // namespace headroom
