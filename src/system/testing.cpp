// Implements testing.hpp. Apart from calls.cpp, so that programs do not link it.
#include <headroom/testing.hpp>

#include "system/calls.hpp"

namespace headroom { inline namespace v0_1 { namespace testing {

void fail_system_call(std::uint64_t k, int error, afterwards then) noexcept {
    using detail::overrides;
    overrides.counted.store(0);
    overrides.failing_error.store(error);
    overrides.keeps_failing.store(then == afterwards::keep_failing);
    overrides.failing_call.store(k);
    overrides.armed.store(true);
}

std::uint64_t stop_failing() noexcept {
    using detail::overrides;
    overrides.armed.store(false);
    overrides.failing_call.store(0);
    return overrides.counted.exchange(0);
}

void count_system_calls() noexcept { fail_system_call(0); }

void pretend_page_size(std::size_t bytes) noexcept { detail::overrides.page_size.store(bytes); }

void watch_files(void (*watcher)(file_event)) noexcept { detail::overrides.file_watcher.store(watcher); }

void limit_address_space(std::size_t bytes) noexcept { detail::overrides.address_space.store(bytes); }

void pretend_system_files(const char* root) noexcept { detail::overrides.system_root.store(root); }

}}}    // namespace headroom::testing
