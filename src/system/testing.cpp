// SPDX-License-Identifier: MIT
// Implements testing.hpp: the target headroom::testing, which the library's own does not contain.
#include <headroom/testing.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "system/calls.hpp"

namespace headroom { inline namespace v0_1 { namespace testing {
namespace {

constinit detail::test_hooks hooks;

// The calls counted, and which of them fail.
constinit std::atomic<bool> armed{false};
constinit std::atomic<std::uint64_t> counted{0};
constinit std::atomic<std::uint64_t> failing_call{0};    // 0: none
constinit std::atomic<int> failing_error{0};
constinit std::atomic<bool> keeps_failing{false};    // later calls fail too

int error_of_next_call() noexcept {
    if (!armed.load(std::memory_order_relaxed)) return 0;
    const std::uint64_t number = counted.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t chosen = failing_call.load(std::memory_order_relaxed);
    if (chosen == 0 || number < chosen) return 0;
    if (number > chosen && !keeps_failing.load(std::memory_order_relaxed)) return 0;
    return failing_error.load(std::memory_order_relaxed);
}

// Changes `member` of the hooks, and installs them.
template <class T>
void set(std::atomic<T> detail::test_hooks::* member, T value) noexcept {
    (hooks.*member).store(value);
    detail::install_test_hooks(hooks);
}

}    // namespace

void fail_system_call(std::uint64_t k, int error, afterwards then) noexcept {
    counted.store(0);
    failing_error.store(error);
    keeps_failing.store(then == afterwards::keep_failing);
    failing_call.store(k);
    armed.store(true);
    set(&detail::test_hooks::error_of_next_call, &error_of_next_call);
}

std::uint64_t stop_failing() noexcept {
    armed.store(false);
    failing_call.store(0);
    return counted.exchange(0);
}

void count_system_calls() noexcept { fail_system_call(0); }

void pretend_page_size(std::size_t bytes) noexcept { set(&detail::test_hooks::page_size, bytes); }

void watch_files(void (*watcher)(file_event)) noexcept { set(&detail::test_hooks::file_watcher, watcher); }

void limit_address_space(std::size_t bytes) noexcept { set(&detail::test_hooks::address_space, bytes); }

void pretend_system_files(const char* root) noexcept { set(&detail::test_hooks::system_root, root); }

}}}    // namespace headroom::testing
