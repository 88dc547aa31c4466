// SPDX-License-Identifier: MIT
// Arrays that grow at the end of call stacks that are hard to follow: `unwinding NAME`.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

[[gnu::noinline]] int innermost(int count) {
    std::vector<int> v;
    for (int i = 0; i < count; ++i) v.push_back(i);
    return v.back();
}
[[gnu::noinline]] int middle(int count) { return innermost(count) + 1; }
[[gnu::noinline]] int outermost(int count) {
    // A frame whose size is known only when it runs.
    auto* const room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(count)));
    room[0] = 1;
    return middle(count) + room[0];
}

struct task {
    struct promise_type {
        task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        static std::suspend_always initial_suspend() noexcept { return {}; }
        static std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
    std::coroutine_handle<promise_type> handle;
};
task in_coroutine(int count) {
    innermost(count);
    co_await std::suspend_always{};
    middle(count);
}
// Neither this nor the handler ends with a call, which would take its frame away.
volatile int last_result = 0;
[[gnu::noinline]] void resume_twice(const task& one) {
    one.handle.resume();
    one.handle.resume();
    last_result = 1;
}

void on_signal(int /*signal*/) { last_result = middle(1000); }
[[gnu::noinline]] void be_interrupted() {
    static char stack[65536];
    stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action{};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
}

struct grows_at_end {
    ~grows_at_end() { middle(1000); }
    int touched = 0;
};
thread_local grows_at_end at_end;

// Forks while other threads meet code for the first time. False if a child does not end.
bool fork_among_threads(int times) {
    std::atomic<bool> done{false};
    std::vector<std::thread> busy;
    for (int i = 0; i < 4; ++i) {
        busy.emplace_back([&] {
            while (!done) std::thread([] { outermost(100); }).join();
        });
    }
    bool all_ended = true;
    for (int i = 0; i < times && all_ended; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            outermost(100);
            _exit(0);
        }
        int status = 0;
        all_ended = waitpid(child, &status, 0) == child && status == 0;
    }
    done = true;
    for (std::thread& each : busy) each.join();
    return all_ended;
}

[[gnu::noinline]] bool use_plugins(const char* one, const char* other) {
    for (int i = 0; i < 20; ++i) {
        void* const library = dlopen(i % 2 == 0 ? one : other, RTLD_NOW);
        if (library == nullptr) return false;
        reinterpret_cast<void (*)(int)>(dlsym(library, i % 2 == 0 ? "grow_in_plugin" : "grow_in_second"))(1000);
        dlclose(library);
    }
    return true;
}

}    // namespace

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    if (name == "calls") {
        outermost(1000);
    } else if (name == "coroutine") {
        const task one = in_coroutine(1000);
        resume_twice(one);
        one.handle.destroy();
    } else if (name == "signal") {
        be_interrupted();
    } else if (name == "threads-end") {
        for (int i = 0; i < 100; ++i) std::thread([] { at_end.touched = 1; }).join();
    } else if (name == "fork") {
        return fork_among_threads(argc > 2 ? std::atoi(argv[2]) : 200) ? 0 : 1;
    } else if (name == "plugins") {
        return use_plugins(argv[2], argv[3]) ? 0 : 1;
    } else if (name == "errno") {
        errno = 77;
        std::thread([] { last_result = errno == 0 && outermost(1000) != 0 ? errno : 1; }).join();
        return errno == 77 && last_result == 0 && outermost(1000) != 0 ? errno - 77 : 1;
    } else if (name == "descriptor") {
        innermost(1000);
        std::printf("%d\n", open("/dev/null", O_RDONLY));
    } else {
        return 2;
    }
    return 0;
}
