// SPDX-License-Identifier: MIT
// at_thread_end() by a thread-local destructor, where such variables live until then: on all systems except GCC for Windows.
#pragma once

#include <utility>

namespace headroom { inline namespace v0_1 { namespace detail {

struct thread_end {
    void (*run)(void*) = nullptr;
    void* with = nullptr;

    ~thread_end() {
        if (auto* const now = std::exchange(run, nullptr)) now(with);
    }
};

inline bool run_at_local_destruction(void (*run)(void*), void* with) noexcept {
    thread_local thread_end mine;
    mine.run = run;
    mine.with = with;
    return true;
}

}}}    // namespace headroom::detail
