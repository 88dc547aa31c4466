// SPDX-License-Identifier: MIT
// Loads the plugin, uses it, also on a thread that lives on, and unloads it. Detects a thread still running in unloaded code
// (crash), a thread left behind (list of threads), ranges left behind (address space), and registered fork handlers (a fork
// afterwards).
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

bool still_mapped(const std::string& name) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(name) != std::string::npos) return true;
    }
    return false;
}

std::ptrdiff_t threads() {
    std::error_code error;
    const std::filesystem::directory_iterator all("/proc/self/task", error);
    return error ? 1 : std::distance(begin(all), end(all));
}

// Returns the bytes of mapped address space.
std::size_t addresses() {
    std::ifstream statm("/proc/self/statm");
    std::size_t pages = 0;
    statm >> pages;
    return pages * 4096;
}

// A thread that outlives the plugin. No destructor: it ends with a failing program.
class worker {
public:
    worker() {
        std::thread([this] { work(); }).detach();
    }

    // Runs `job` on the thread and returns its result.
    int run(int (*job)()) {
        job_ = job;
        job_.notify_one();
        job_.wait(job);
        return result_;
    }

private:
    [[noreturn]] void work() {
        for (;;) {
            job_.wait(nullptr);
            result_ = job_.load()();
            job_ = nullptr;
            job_.notify_one();
        }
    }

    std::atomic<int (*)()> job_{nullptr};
    int result_ = 0;
};

int fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    return 1;
}

}    // namespace

int main(int argc, char** argv) {
    if (argc != 2) return fail("usage: unload_program PLUGIN");
    static worker other;
    const std::ptrdiff_t before = threads();
    std::size_t at_first = 0;
    for (int round = 0; round < 30; ++round) {
        void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (plugin == nullptr) return fail(dlerror());
        const auto run = reinterpret_cast<int (*)()>(dlsym(plugin, "run"));
        if (run == nullptr || run() < 5 || other.run(run) < 5) return fail("the plugin does not do its work");
        if (dlclose(plugin) != 0) return fail("the plugin cannot be unloaded");
        if (!still_mapped(argv[1]) && threads() != before) return fail("a thread is left whose code is gone");
        if (round == 2) at_first = addresses();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (addresses() > at_first + (std::size_t{1} << 30)) return fail("ranges stay reserved that nobody owns");
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) return fail("a fork after the plugin is gone fails");
    std::printf(still_mapped(argv[1]) ? "the plugin stays mapped\n" : "unloaded\n");
    return 0;
}
