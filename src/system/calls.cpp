// Counters of system calls and the hook of tests: defines the variables of calls.hpp.
#include "system/calls.hpp"

#include "system/admission.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit call_counters calls;

constinit std::atomic<const test_hooks*> hooks_of_test{nullptr};

constinit std::atomic<const memory_guard*> guard_of_memory{nullptr};
constinit std::atomic<bool> min_available_was_set{false};
constinit std::atomic<std::uint32_t> admission_period{0};

int intercept(page_call kind) noexcept {
    calls.made[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
    auto* const error_of_next_call = hook_of_test(&test_hooks::error_of_next_call);
    if (error_of_next_call == nullptr) [[likely]]
        return 0;
    const int error = error_of_next_call();
    if (error != 0) count_refusal();
    return error;
}

void count_refusal() noexcept { calls.refused.fetch_add(1, std::memory_order_relaxed); }

void notify_observer(testing::file_event event) noexcept {
    if (auto* const watcher = hook_of_test(&test_hooks::file_watcher)) watcher(event);
}

std::size_t overridden_address_limit() noexcept { return hook_of_test(&test_hooks::address_space); }

void install_test_hooks(const test_hooks& hooks) noexcept { hooks_of_test.store(&hooks); }

}}}    // namespace headroom::detail
