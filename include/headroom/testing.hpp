// SPDX-License-Identifier: MIT
// Makes system calls fail, for tests.
//
// A test of how a program behaves when the system refuses memory needs the system to refuse at a chosen call. The platform
// layer counts its system calls; when the count reaches the chosen call, the call is not made and fails with the chosen error
// instead.
//
// The target headroom::testing of CMake, or headroom-testing of pkg-config, has the functions; the single header has them, too. A program
// that does not link it carries a pointer of them, which is loaded at each system call.
//
// All functions are thread-safe, but the counter is one for the process: arm it from single-threaded tests.
#pragma once

#include <headroom/detail/language.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace testing {

// Outcome of the calls after the chosen failure.
enum class afterwards { succeed, keep_failing };

// Makes the k-th system call from now (1 is the next) fail with `error`; `then` says whether later calls fail too. Also counts and fails
// calls that only return memory or names to the system (release, decommit).
HEADROOM_API void fail_system_call(std::uint64_t k, int error = ENOMEM, afterwards then = afterwards::succeed) noexcept;

// Disarms. Returns the number of system calls counted since the last fail_system_call() or count_system_calls().
HEADROOM_API std::uint64_t stop_failing() noexcept;

// Counts system calls without failing any.
HEADROOM_API void count_system_calls() noexcept;

// Makes page_size() return `bytes`, a power-of-two multiple of the real page size; 0 restores the real one. Only while no reservation is
// alive, and with the cache trimmed.
HEADROOM_API void pretend_page_size(std::size_t bytes) noexcept;

// Makes a reservation of more than `bytes` fail with ENOMEM, like a small address space; 0 lifts the limit.
HEADROOM_API void limit_address_space(std::size_t bytes) noexcept;

// Events of a file: before a change, before a sync, after all earlier changes became durable.
enum class file_event { before_write, before_sync, synced };

// Calls `watcher` at each event, on the thread that causes it, for a model of what a power cut would leave. Does not see stores through
// mapped memory. Null removes the watcher.
HEADROOM_API void watch_files(void (*watcher)(file_event)) noexcept;

// Linux: reads the files of /proc and /sys that say how much memory there is below the folder `root` instead, which must outlive this; null
// ends it.
HEADROOM_API void pretend_system_files(const char* root) noexcept;

}}}    // namespace headroom::testing
