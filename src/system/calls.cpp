// Counters and overrides of system calls: defines the variables of calls.hpp.
#include "system/calls.hpp"

#include "system/admission.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit call_counters calls;

constinit test_overrides overrides;

constinit std::atomic<const memory_guard*> guard_of_memory{nullptr};
constinit std::atomic<std::uint32_t> admission_period{0};

int intercept(page_call kind) noexcept {
    calls.made[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
    if (!overrides.armed.load(std::memory_order_relaxed)) [[likely]]
        return 0;
    const std::uint64_t number = overrides.counted.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t chosen = overrides.failing_call.load(std::memory_order_relaxed);
    if (chosen == 0 || number < chosen) return 0;
    if (number > chosen && !overrides.keeps_failing.load(std::memory_order_relaxed)) return 0;
    count_refusal();
    return overrides.failing_error.load(std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
