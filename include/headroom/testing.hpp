// Makes system calls fail, for tests.
//
// A test of how a program behaves when the system refuses memory needs the system to refuse at a chosen call. The platform
// layer counts its system calls; when the count reaches the chosen call, the call is not made and fails with the chosen error
// instead. Costs one relaxed atomic load a system call when nothing is armed.
//
// All functions are thread-safe, but the counter is one for the process: arm it from single-threaded tests.
#pragma once

#include <headroom/detail/language.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace testing {

// What follows the chosen failure.
enum class afterwards { succeed, keep_failing };

// Makes the k-th system call from now (1 is the next) fail with `error`, then go on as `then` says. Calls that only give
// memory or names back (release, decommit) are counted and failed too.
HEADROOM_API void fail_system_call(std::uint64_t k, int error = ENOMEM, afterwards then = afterwards::succeed) noexcept;

// Disarms, and returns how many system calls were counted since the last fail_system_call or count_system_calls.
HEADROOM_API std::uint64_t stop_failing() noexcept;

// Counts without failing: to learn how many calls an operation makes.
HEADROOM_API void count_system_calls() noexcept;

// Makes page_size() answer `bytes`, a power of two multiple of the real page size; 0 goes back to the real one. Only
// while no reservation is alive, and with the cache trimmed.
HEADROOM_API void pretend_page_size(std::size_t bytes) noexcept;

// Makes a reservation of more than `bytes` fail with ENOMEM, as a small address space would; 0 lifts the limit.
HEADROOM_API void limit_address_space(std::size_t bytes) noexcept;

// What happens to a file: a change is about to be made, or to be made durable; all changes up to here are durable.
enum class file_event { before_write, before_sync, synced };

// Calls `watcher` at each of these, from the thread that makes it, for a model of what a power cut would leave. (What is stored
// through mapped memory is not seen.) Null: no watcher.
HEADROOM_API void watch_files(void (*watcher)(file_event)) noexcept;

}}}    // namespace headroom::testing
