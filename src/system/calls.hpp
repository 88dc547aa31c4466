// Counts the system calls on memory and files, and lets tests refuse them. Not those that ask what the system has, or that undo another.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>
#include <headroom/pages.hpp>
#include <headroom/testing.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

struct call_counters {
    std::array<std::atomic<std::uint64_t>, page_call_kinds> made{};
    std::atomic<std::uint64_t> refused{0};
};

extern constinit call_counters calls;

// Overrides for tests (testing.cpp); zero if not set.
struct test_overrides {
    std::atomic<bool> armed{false};
    std::atomic<std::uint64_t> counted{0};
    std::atomic<std::uint64_t> failing_call{0};    // 0: none
    std::atomic<int> failing_error{0};
    std::atomic<bool> keeps_failing{false};    // later calls fail too
    std::atomic<std::size_t> page_size{0};
    std::atomic<std::size_t> address_space{0};
    std::atomic<void (*)(testing::file_event)> file_watcher{nullptr};
    std::atomic<const char*> system_root{nullptr};
};

extern constinit test_overrides overrides;

// Counts the call. Returns 0 if it should be made, otherwise the errno with which it fails.
[[nodiscard]] int intercept(page_call kind) noexcept;

inline void count_refusal() noexcept { calls.refused.fetch_add(1, std::memory_order_relaxed); }

// Scope guard: restores errno at its end. Errors are returned, and the program may be about to read an errno of its own: vectors are
// destroyed between a failed call and the line that reports it.
class errno_guard {
public:
    HEADROOM_ALWAYS_INLINE errno_guard() noexcept : before_(errno) {}
    HEADROOM_ALWAYS_INLINE ~errno_guard() { errno = before_; }
    errno_guard(const errno_guard&) = delete;
    errno_guard& operator=(const errno_guard&) = delete;

private:
    int before_;
};

// Calls the test's file watcher, if there is one.
inline void notify_observer(testing::file_event event) noexcept {
    if (auto* const watcher = overrides.file_watcher.load(std::memory_order_relaxed)) watcher(event);
}

// Overrides of tests, 0 if not set: the page size, and the largest reservation.
[[nodiscard]] inline std::size_t overridden_page_size() noexcept { return overrides.page_size.load(std::memory_order_relaxed); }
[[nodiscard]] inline std::size_t overridden_address_limit() noexcept {
    return overrides.address_space.load(std::memory_order_relaxed);
}

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept {
    return (bytes + multiple - 1) / multiple * multiple;
}

}}}    // namespace headroom::detail
