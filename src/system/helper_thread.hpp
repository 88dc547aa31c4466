// The helper thread on systems with POSIX threads.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace headroom { inline namespace v0_1 { namespace detail {

struct posix_helper {
    void (*run)() = nullptr;
    pthread_t thread{};

    static void* enter(void* self) {
        static_cast<posix_helper*>(self)->run();
        return nullptr;
    }

    bool start(void (*what)()) noexcept {
        run = what;
        // It inherits the mask: no signal of the program's is ever delivered to it, not even between its start and its first
        // statement. A program that waits for signals in one place must find them there.
        sigset_t all, before;
        sigfillset(&all);
        if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
        const bool started = pthread_create(&thread, nullptr, enter, this) == 0;
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return started;
    }

    void join() noexcept { pthread_join(thread, nullptr); }
};

}}}    // namespace headroom::detail
