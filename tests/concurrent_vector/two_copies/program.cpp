// SPDX-License-Identifier: MIT
// Two modules, each with its own copy of the library, append to one vector: no element is lost, although each copy counts threads
// and forks separately. Each also destroys containers of the other.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

extern "C" const char* __tsan_default_options() { return "die_after_fork=0:report_thread_leaks=0"; }

namespace {

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
}

struct module {
    explicit module(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (handle == nullptr) fail(dlerror());
    }
    template <class Function>
    Function* get(const char* name) const {
        void* const found = dlsym(handle, name);
        if (found == nullptr) fail(name);
        return reinterpret_cast<Function*>(found);
    }
    void* handle;
};
using appending = void(void*, std::uint64_t, std::uint64_t);
const std::vector<const char*> both{"append", "append_by_batches"};

// Each module appends `each` numbers in every way, each on a thread that has first appended to its own vector.
void share(const module& maker, const module& other, const std::vector<const char*>& ways, std::uint64_t each) {
    void* const all = maker.get<void*()>("make")();
    std::vector<std::thread> threads;
    std::atomic<std::size_t> ready{0};
    std::uint64_t next = 0;
    for (const char* const way : ways) {
        for (const module* const one : {&maker, &other}) {
            threads.emplace_back([=, &ready, count = 2 * ways.size()] {
                void* const own = one->get<void*()>("make")();
                one->get<appending>(way)(own, 0, 10);
                one->get<void(void*)>("drop")(own);
                ++ready;
                while (ready != count) std::this_thread::yield();
                one->get<appending>(way)(all, next, next + each);
            });
            next += each;
        }
    }
    threads.emplace_back(other.get<void(void*, std::size_t)>("wait_for"), all, next / 2);
    for (std::thread& thread : threads) thread.join();

    const std::size_t size = other.get<std::size_t(const void*)>("size_of")(all);
    const std::uint64_t* const elements = maker.get<const std::uint64_t*(const void*)>("elements_of")(all);
    std::vector<bool> seen(next);
    std::size_t lost = next;
    for (std::size_t i = 0; i < size; ++i) {
        if (elements[i] >= next || seen[elements[i]]) fail("an element is there twice, or is no element");
        seen[elements[i]] = true;
        --lost;
    }
    maker.get<void(void*)>("drop")(all);
    if (lost != 0) {
        std::fprintf(stderr, "%zu of %llu elements are lost\n", lost, static_cast<unsigned long long>(next));
        std::_Exit(1);
    }
}

// Repeats, so that ranges are cached, with sizes around those at which a vector leaves the heap.
void hand_over(const module& maker, const module& other) {
    for (int round = 0; round < 4; ++round) {
        for (const std::size_t count : std::array<std::size_t, 5>{10, 5'000, 100'000, 300'000, 1'000'000}) {
            void* const all = maker.get<void*(std::size_t)>("make_holders")(count);
            if (!other.get<bool(void*)>("end_holders")(all)) fail("an element has changed on its way to another module");
        }
    }
}

// Runs `run` in a forked child. A copy of the library loaded there has counted one fork less than one loaded before.
void in_child(void (*run)(char**), char** paths) {
    const pid_t child = fork();
    if (child == 0) {
        run(paths);
        std::_Exit(0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) fail("in a child: see above");
}

}    // namespace

int main(int argc, char** argv) {
    if (argc != 3) fail("usage: two_copies MODULE OTHER-MODULE");
    const module first(argv[1]);
    in_child(
        [](char** paths) {
            const module one(paths[1]), two(paths[2]);
            if (one.get<const void*()>("library")() == two.get<const void*()>("library")())
                fail("there is one copy of the library");
            share(one, two, {"append"}, 100'000);
            share(two, one, both, 100'000);
        },
        argv);
    const module second(argv[2]);
    hand_over(first, second);
    hand_over(second, first);
    hand_over(first, first);
    // Copies that number threads separately would give one number to two threads here: each has seen equally many.
    for (int round = 0; round < 5; ++round) share(first, second, {"append"}, 2'000'000);
    share(second, first, both, 500'000);
    std::printf("nothing is lost\n");
}
