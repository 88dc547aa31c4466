// at_thread_end() where a thread's variables live until their destructors have run, which is where the language's own means
// do: everywhere but with GCC for Windows.
#pragma once

#include <cstddef>

namespace headroom { inline namespace v0_1 { namespace detail {

// As many modules as have something to do then.
inline constexpr std::size_t most_at_thread_end = 4;

struct thread_end {
    struct call {
        void (*run)(void*) = nullptr;
        void* with = nullptr;
    };
    call calls[most_at_thread_end];

    ~thread_end() {
        for (call& each : calls) {
            const call now = each;
            each = {};
            if (now.run != nullptr) now.run(now.with);
        }
    }
};

// A function that is registered again takes the place of what it was registered with before.
inline bool run_by_destructor(void (*run)(void*), void* with) noexcept {
    thread_local thread_end mine;
    for (thread_end::call& each : mine.calls) {
        if (each.run == nullptr || each.run == run) {
            each = {run, with};
            return true;
        }
    }
    return false;
}

}}}    // namespace headroom::detail
