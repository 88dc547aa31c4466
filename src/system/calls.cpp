#include "system/calls.hpp"

#include <headroom/testing.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

constinit call_counters calls;

namespace {

constinit std::atomic<bool> armed{false};
constinit std::atomic<std::uint64_t> counted{0};
constinit std::atomic<std::uint64_t> failing_call{0};    // 0: none
constinit std::atomic<int> failing_error{0};
constinit std::atomic<bool> failing_on{false};    // whether the calls after it fail, too
constinit std::atomic<std::size_t> page_size_pretence{0};
constinit std::atomic<std::size_t> address_limit{0};
constinit std::atomic<void (*)(testing::file_event)> file_watcher{nullptr};

}    // namespace

int intercept(page_call kind) noexcept {
    calls.made[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
    if (!armed.load(std::memory_order_relaxed)) [[likely]]
        return 0;
    const std::uint64_t number = counted.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t chosen = failing_call.load(std::memory_order_relaxed);
    if (chosen == 0 || number < chosen) return 0;
    if (number > chosen && !failing_on.load(std::memory_order_relaxed)) return 0;
    note_refusal();
    return failing_error.load(std::memory_order_relaxed);
}

void tell_watcher(testing::file_event event) noexcept {
    if (auto* const watcher = file_watcher.load(std::memory_order_relaxed)) watcher(event);
}

std::size_t pretended_page_size() noexcept { return page_size_pretence.load(std::memory_order_relaxed); }
std::size_t address_space_limit() noexcept { return address_limit.load(std::memory_order_relaxed); }

}}}    // namespace headroom::detail

namespace headroom { inline namespace v0_1 { namespace testing {

void fail_system_call(std::uint64_t k, int error, afterwards then) noexcept {
    using namespace detail;
    counted.store(0);
    failing_error.store(error);
    failing_on.store(then == afterwards::keep_failing);
    failing_call.store(k);
    armed.store(true);
}

std::uint64_t stop_failing() noexcept {
    using namespace detail;
    armed.store(false);
    failing_call.store(0);
    return counted.exchange(0);
}

void count_system_calls() noexcept { fail_system_call(0); }

void pretend_page_size(std::size_t bytes) noexcept { detail::page_size_pretence.store(bytes); }

void watch_files(void (*watcher)(file_event)) noexcept { detail::file_watcher.store(watcher); }

void limit_address_space(std::size_t bytes) noexcept { detail::address_limit.store(bytes); }

}}}    // namespace headroom::testing
