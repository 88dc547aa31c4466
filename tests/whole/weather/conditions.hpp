// SPDX-License-Identifier: MIT
// Bad conditions that a program creates for itself after its start; its mappings; and its report of a failure.
#pragma once

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#ifdef HEADROOM_TEST_FILTERS
#include "system/call_filter.hpp"
#endif
#include "system/sandbox.hpp"

namespace weather {

inline constexpr std::size_t kib = std::size_t{1} << 10;
inline constexpr std::size_t mib = std::size_t{1} << 20;
inline constexpr std::size_t gib = std::size_t{1} << 30;

[[noreturn]] inline void fail(const std::string& what) {
    std::printf("fails: %s\n", what.c_str());
    std::fflush(nullptr);
    std::_Exit(1);
}
[[noreturn]] inline void skip(const char* why) {
    std::printf("skipped: %s\n", why);
    std::fflush(nullptr);
    std::_Exit(0);
}
inline void check(bool right, const char* what) {
    if (!right) fail(what);
}

inline std::size_t status_line(const std::string& begins) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.compare(0, begins.size(), begins) == 0) return std::strtoull(line.c_str() + begins.size(), nullptr, 10) * kib;
    }
    return 0;
}
// Number and bytes of the process's mappings without the heap, which keeps freed memory.
struct mapped {
    std::size_t count = 0, bytes = 0;
    mapped() {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            if (line.find("[heap]") != std::string::npos) continue;
            char* end = nullptr;
            const auto first = std::strtoull(line.c_str(), &end, 16);
            const auto last = std::strtoull(end + 1, nullptr, 16);
            ++count;
            bytes += static_cast<std::size_t>(last - first);
        }
    }
};
inline std::size_t heap_in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

inline void limit(__rlimit_resource which, std::size_t bytes) {
    rlimit wanted{};
    wanted.rlim_cur = wanted.rlim_max = bytes;
    check(setrlimit(which, &wanted) == 0, "setrlimit");
}

inline void* occupied = nullptr;
inline std::size_t occupied_bytes = 0;

// Uses all but `left` mappings: adjacent pages of different protection are separate mappings.
inline void occupy_mappings(std::size_t left) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    occupied_bytes = 400'000 * page;
    occupied = mmap(nullptr, occupied_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(occupied != MAP_FAILED, "mmap");
    std::size_t used = 0;
    for (; used < 400'000; used += 2) {
        if (mprotect(static_cast<char*>(occupied) + used * page, page, PROT_READ) != 0) break;
    }
    if (used >= 400'000) {
        skip("this system allows more mappings than can be made here");
    }
    for (std::size_t i = 0; 2 * i < left && used >= 2; ++i) {
        used -= 2;
        check(mprotect(static_cast<char*>(occupied) + used * page, page, PROT_NONE) == 0, "mprotect");
    }
}

// Occupies all but 2^bits bytes of addresses, whatever the limits are.
inline void occupy_addresses(unsigned bits) {
    const std::size_t left = std::size_t{1} << bits;
    void* const kept = mmap(nullptr, left, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(kept != MAP_FAILED, "mmap");
    for (std::size_t bytes = std::size_t{1} << 46; bytes >= 2 * mib;) {
        if (mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED) bytes /= 2;
    }
    check(munmap(kept, left) == 0, "munmap");
}

// Makes these system calls fail with `error`, as in a sandbox.
inline void sandboxed(std::initializer_list<long> calls, std::size_t error) {
    if (!headroom_test::refuse_calls(calls, static_cast<int>(error))) skip("no sandbox can be made here");
}

// Filters the system calls as the file says.
inline void filtered([[maybe_unused]] const char* file) {
#ifdef HEADROOM_TEST_FILTERS
    if (!headroom_test::call_filter(file).apply()) skip("no filter can be made here");
#else
    skip("libseccomp is not here, which knows the names of system calls");
#endif
}

// Locks all mappings into memory.
inline void locked(std::size_t how) {
    if (mlockall(static_cast<int>(how)) != 0) skip("this process may lock nothing");
    // Reserved addresses count too: see tests/range/locked_memory_test.cpp for a small limit.
    constexpr std::size_t much = std::size_t{1} << 40;
    void* const probe = mmap(nullptr, much, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) skip("this process may lock little");
    munmap(probe, much);
}

// Unmounts /proc and /sys, for this process only.
inline void without_proc() {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        umount2("/proc", MNT_DETACH) != 0 || umount2("/sys", MNT_DETACH) != 0) {
        skip("nothing can be unmounted here");
    }
}

// Mounts a file system of `value` MiB at the working folder, for this process only.
inline void own_disk(std::size_t value) {
    const std::string size = "size=" + std::to_string(value) + "m";
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("headroom", "/mnt", "tmpfs", 0, size.c_str()) != 0 || chdir("/mnt") != 0) {
        skip("no file system can be mounted here");
    }
}

}    // namespace weather
