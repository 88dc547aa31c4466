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

#include "component_api.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

struct call_counters {
    std::array<std::atomic<std::uint64_t>, page_call_kinds> made{};
    std::atomic<std::uint64_t> refused{0};
};

extern constinit call_counters calls;

// What a test has set; a member is zero if not set.
struct test_hooks {
    std::atomic<int (*)() noexcept> error_of_next_call{nullptr};    // returns 0 if the system call should be made
    std::atomic<std::size_t> page_size{0};
    std::atomic<std::size_t> address_space{0};
    std::atomic<void (*)(testing::file_event)> file_watcher{nullptr};
    std::atomic<const char*> system_root{nullptr};
};

// Null unless the program uses headroom::testing, a target of its own: all that others carry of it is this.
extern constinit std::atomic<const test_hooks*> hooks_of_test;

// Sets hooks_of_test. A function, because testing.cpp may be linked with a shared library.
HEADROOM_FOR_COMPONENTS void install_test_hooks(const test_hooks& hooks) noexcept;

// Returns the member of the test's hooks, zero if there are none.
template <class T>
[[nodiscard]] HEADROOM_ALWAYS_INLINE T hook_of_test(const std::atomic<T> test_hooks::* member) noexcept {
    const test_hooks* const hooks = hooks_of_test.load(std::memory_order_relaxed);
    return hooks == nullptr ? T{} : (hooks->*member).load(std::memory_order_relaxed);
}

// Counts the call. Returns 0 if it should be made, otherwise the errno with which it fails.
[[nodiscard]] HEADROOM_FOR_COMPONENTS int intercept(page_call kind) noexcept;

// Counts a refusal by the system. Out of line, as are the next functions that components call, which cannot read variables of a DLL.
HEADROOM_FOR_COMPONENTS void count_refusal() noexcept;

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
HEADROOM_FOR_COMPONENTS void notify_observer(testing::file_event event) noexcept;

// Overrides of tests, 0 if not set: the page size, and the largest reservation.
[[nodiscard]] inline std::size_t overridden_page_size() noexcept { return detail::hook_of_test(&test_hooks::page_size); }
[[nodiscard]] HEADROOM_FOR_COMPONENTS std::size_t overridden_address_limit() noexcept;

// False for what no system reserves: no bytes, more than half of all addresses, an alignment that is no power of two or a quarter of all.
// Not by std::has_single_bit, which is a call for processors without the instruction.
[[nodiscard]] constexpr bool is_reservable(std::size_t bytes, std::size_t alignment) noexcept {
    return bytes != 0 && bytes <= SIZE_MAX / 2 && alignment != 0 && (alignment & (alignment - 1)) == 0 &&
           alignment <= SIZE_MAX / 4;
}
// Returns the first multiple of `alignment`, a power of two, at the start of `range` or after it.
[[nodiscard]] inline std::byte* aligned_within(page_range range, std::size_t alignment) noexcept {
    return range.data + ((0 - reinterpret_cast<std::uintptr_t>(range.data)) & (alignment - 1));
}

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept {
    return (bytes + multiple - 1) / multiple * multiple;
}

}}}    // namespace headroom::detail
