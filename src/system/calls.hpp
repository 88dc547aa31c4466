// Every system call of the platform layer passes here: it is counted, and a test may have it refused.
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

// What tests have it pretend (testing.cpp); zeros where none does.
struct test_overrides {
    std::atomic<bool> armed{false};
    std::atomic<std::uint64_t> counted{0};
    std::atomic<std::uint64_t> failing_call{0};    // 0: none
    std::atomic<int> failing_error{0};
    std::atomic<bool> keeps_failing{false};    // whether the calls after it fail, too
    std::atomic<std::size_t> page_size{0};
    std::atomic<std::size_t> address_space{0};
    std::atomic<void (*)(testing::file_event)> file_watcher{nullptr};
};

extern constinit test_overrides overrides;

// 0 when the call is to be made; otherwise the errno with which it fails unmade.
[[nodiscard]] int intercept(page_call kind) noexcept;

inline void count_refusal() noexcept { calls.refused.fetch_add(1, std::memory_order_relaxed); }

// While it lives, errno may change, and at its end is as it was. What the system answers is in what we return; the program may be
// about to look at an answer of its own: vectors die between a call that failed and the line that reports it.
class errno_guard {
public:
    HEADROOM_ALWAYS_INLINE errno_guard() noexcept : before_(errno) {}
    HEADROOM_ALWAYS_INLINE ~errno_guard() { errno = before_; }
    errno_guard(const errno_guard&) = delete;
    errno_guard& operator=(const errno_guard&) = delete;

private:
    int before_;
};

// Tells a test, if one wants to know.
inline void notify_observer(testing::file_event event) noexcept {
    if (auto* const watcher = overrides.file_watcher.load(std::memory_order_relaxed)) watcher(event);
}

// What tests pretend; 0 is nothing.
[[nodiscard]] inline std::size_t overridden_page_size() noexcept { return overrides.page_size.load(std::memory_order_relaxed); }
[[nodiscard]] inline std::size_t address_space_limit() noexcept {
    return overrides.address_space.load(std::memory_order_relaxed);
}

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept {
    return (bytes + multiple - 1) / multiple * multiple;
}

}}}    // namespace headroom::detail
