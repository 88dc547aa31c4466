// SPDX-License-Identifier: MIT
// Programs with known results for headroom profile. `subject NAME` runs one and prints how often its arrays grew, and the bytes
// of the old blocks, by its containers' capacities.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct answer {
    std::uint64_t growths = 0;
    std::uint64_t bytes = 0;

    void grew(std::size_t old_bytes) {
        if (old_bytes == 0) return;
        ++growths;
        bytes += old_bytes;
    }
    answer& operator+=(const answer& other) {
        growths += other.growths;
        bytes += other.bytes;
        return *this;
    }
};

// Runs one step, and counts a growth of the container's block. A string in its small buffer has no block.
template <class Container, class Step>
void watched(answer& known, Container& container, Step step) {
    const std::size_t before = container.capacity();
    step();
    if (container.capacity() == before) return;
    if constexpr (std::is_same_v<Container, std::string>) known.grew(before > std::string().capacity() ? before + 1 : 0);
    else known.grew(before * sizeof(typename Container::value_type));
}

// Copied, never moved: growth allocates for every element.
struct copied_only {
    std::string text;
    explicit copied_only(int i) : text(40, static_cast<char>('a' + i % 26)) {}
    copied_only(const copied_only&) = default;
    copied_only& operator=(const copied_only&) = default;
};

[[gnu::noinline]] void numbers(answer& known, int count) {
    std::vector<int> v;
    for (int i = 0; i < count; ++i) watched(known, v, [&] { v.push_back(i + 1); });
}
[[gnu::noinline]] void reserved_numbers(answer& known, int count) {
    std::vector<long> v;
    v.reserve(7);    // the first block comes from another call stack
    for (int i = 0; i < count; ++i) watched(known, v, [&] { v.insert(v.begin(), i + 1); });
}
[[gnu::noinline]] void short_texts(answer& known, int count) {
    std::vector<std::string> v;
    for (int i = 0; i < count; ++i) watched(known, v, [&] { v.emplace_back("short"); });
}
[[gnu::noinline]] void copied_elements(answer& known, int count) {
    std::vector<copied_only> v;
    for (int i = 0; i < count; ++i) watched(known, v, [&] { v.push_back(copied_only(i)); });
}
[[gnu::noinline]] void resized(answer& known, int count) {
    std::vector<double> v;
    for (int i = 1; i < count; i = i * 3 / 2 + 1) watched(known, v, [&] { v.resize(static_cast<std::size_t>(i), 1.0); });
}
[[gnu::noinline]] void text(answer& known, int count) {
    std::string s;
    for (int i = 0; i < count; ++i) watched(known, s, [&] { s.push_back('x'); });
    for (int i = 0; i < count; ++i) watched(known, s, [&] { s.append("0123456789"); });
}
[[gnu::noinline]] void by_hand(answer& known, int count) {
    std::size_t room = 16;
    auto* block = static_cast<char*>(std::malloc(room));
    std::memset(block, 'y', room);
    for (int i = 0; i < count; ++i) {
        auto* const larger = static_cast<char*>(std::malloc(room * 2));
        std::memcpy(larger, block, room);
        std::memset(larger + room, 'z', room);
        std::free(block);
        known.grew(room);
        block = larger;
        room *= 2;
    }
    std::free(block);
}
[[gnu::noinline]] void by_realloc(answer& known, int count) {
    std::size_t room = 32;
    void* block = std::malloc(room);
    for (int i = 0; i < count; ++i) {
        void* const in_the_way = std::malloc(room);    // prevents growth in place
        void* const before = block;
        block = std::realloc(block, room * 2);
        if (block != before) known.grew(room);
        room *= 2;
        std::free(in_the_way);
    }
    std::free(block);
}

answer growing(int count) {
    answer known;
    numbers(known, count);
    reserved_numbers(known, count / 10);
    short_texts(known, count);
    copied_elements(known, count / 10);
    resized(known, count);
    text(known, count);
    by_hand(known, 8);
    by_realloc(known, 8);
    return known;
}

// Two callers in turn at varying depth: the frames next to the allocation are equal, the outer ones differ.
[[gnu::noinline]] answer deeper(int levels, int count) {
    answer known;
    if (levels > 0) known += deeper(levels - 1, count);
    else numbers(known, count);
    return known;
}
[[gnu::noinline]] answer first_caller(int levels, int count) {
    const answer known = deeper(levels, count);
    std::printf("first %d %llu\n", levels + 1, static_cast<unsigned long long>(known.bytes));
    return known;
}
[[gnu::noinline]] answer second_caller(int levels, int count) {
    const answer known = deeper(levels, count);
    std::printf("second %d %llu\n", levels + 1, static_cast<unsigned long long>(known.bytes));
    return known;
}
answer callers() {
    answer known;
    for (int i = 0; i < 200; ++i) {
        const int levels = i % 3 == 0 ? 5 : i % 17;
        known += i % 2 == 0 ? first_caller(levels, 10 + i) : second_caller(levels, 10 + i);
    }
    return known;
}

void* volatile kept;
std::uint64_t state = 88172645463325252U;
std::size_t some(std::size_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 20) % below;
}

[[gnu::noinline]] void* block_of_dimension(std::size_t size) {
    void* const block = std::malloc(size);
    kept = block;
    return block;
}
[[gnu::noinline]] void* filler(std::size_t size) {
    void* const block = std::malloc(size);
    kept = block;
    return block;
}

void density_high() {
    for (int i = 0; i < 100000; ++i) std::free(block_of_dimension(32));
}
void density_low() {
    for (int i = 0; i < 10; ++i) {
        std::free(block_of_dimension(32));
        usleep(20000);
    }
}
void variation_high() {
    for (int i = 0; i < 20000; ++i) std::free(block_of_dimension(1 + some(256)));
}
void variation_low() {
    for (int i = 0; i < 20000; ++i) std::free(block_of_dimension(100));
}
void locality_high() {
    std::vector<void*> all(5000);
    for (void*& one : all) one = block_of_dimension(48);
    for (void* one : all) std::free(one);
}
void locality_low() {
    std::vector<void*> all(2000);
    for (std::size_t i = 0; i < all.size(); i += 2) {
        all[i] = block_of_dimension(48);
        all[i + 1] = filler(16000);
    }
    for (void* one : all) std::free(one);
}
void utilization_high() { locality_high(); }
void utilization_low() { variation_low(); }

// Strictly in turns, so that the result does not depend on scheduling.
void contention_high() {
    std::mutex mutex;
    std::condition_variable turned;
    int turn = 0;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int me = 0; me < 4; ++me) {
        threads.emplace_back([&, me] {
            for (int i = 0; i < 100; ++i) {
                std::unique_lock lock(mutex);
                turned.wait(lock, [&] { return turn % 4 == me; });
                std::free(block_of_dimension(64));
                ++turn;
                turned.notify_all();
            }
        });
    }
    for (std::thread& one : threads) one.join();
}
void contention_low() {
    for (int i = 0; i < 4; ++i)
        std::thread([] {
            for (int k = 0; k < 100; ++k) std::free(block_of_dimension(64));
        }).join();
}

answer by_threads(int how_many) {
    std::vector<std::thread> threads;
    std::vector<answer> answers(static_cast<std::size_t>(how_many));
    threads.reserve(answers.size());
    for (answer& mine : answers) threads.emplace_back([&mine] { mine = growing(2000); });
    for (std::thread& one : threads) one.join();
    answer all;
    for (const answer& one : answers) all += one;
    return all;
}

// None of these is a growth.
[[gnu::noinline]] void larger_each_time() {
    std::string s = "a text that is longer than a string's own buffer";
    for (int i = 0; i < 200; ++i) s = std::string(s.size() + 5, static_cast<char>('a' + i % 26));
}
[[gnu::noinline]] void new_vectors() {
    std::vector<int> v;
    for (std::size_t i = 1; i < 200; ++i) v = std::vector<int>(i * 3, static_cast<int>(i));
}
[[gnu::noinline]] void buffers_by_turns() {
    std::size_t size = 64;
    void* buffer = filler(size);
    std::memset(buffer, 1, size);
    for (int i = 0; i < 10; ++i) {
        void* const other = filler(size *= 2);
        std::memset(other, i + 2, size);    // nothing is copied
        std::free(buffer);
        buffer = other;
    }
    std::free(buffer);
}
[[gnu::noinline]] void churn() {
    std::vector<void*> all(64);
    for (int i = 0; i < 20000; ++i) {
        void*& one = all[some(all.size())];
        void* const before = one;
        const std::size_t size = 16 + some(500);
        one = filler(size);
        std::memset(one, i % 255 + 1, size);
        std::free(before);
    }
    for (void* one : all) std::free(one);
}
[[gnu::noinline]] void copies() {
    std::vector<int> v(100, 7);
    for (std::size_t i = 1; i < 20; ++i) {
        std::vector<int> larger(v.size() + 10, 8);
        v.swap(larger);
    }
}

void print(const answer& known) {
    std::printf("%llu %llu\n", static_cast<unsigned long long>(known.growths), static_cast<unsigned long long>(known.bytes));
    std::fflush(stdout);
}

using plugin_function = void (*)(int);
void use_plugin(const char* path, int count) {
    void* const library = dlopen(path, RTLD_NOW);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(1);
    }
    reinterpret_cast<plugin_function>(dlsym(library, "grow_in_plugin"))(count);
    dlclose(library);
}

// Limits the recording command's files to little more than the present size of `path`, once it has content.
void fill_the_disk_for(const char* path) {
    struct stat file{};
    while (stat(path, &file) != 0 || file.st_size <= 16) usleep(1000);
    usleep(100000);    // waits until the write is complete
    stat(path, &file);
    rlimit limit{};
    prlimit(getppid(), RLIMIT_FSIZE, nullptr, &limit);
    limit.rlim_cur = static_cast<rlim_t>(file.st_size) + 10;
    prlimit(getppid(), RLIMIT_FSIZE, &limit, nullptr);
}

// Allocates until the ring is full and it has to wait.
void* allocate_much(void* result) {
    for (int i = 0; i < 1000000; ++i) std::free(block_of_dimension(32));
    return result;
}
bool is_cancelled_in_malloc() {
    pthread_t thread{};
    pthread_create(&thread, nullptr, allocate_much, nullptr);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED;
}

// A child in a new PID namespace, which cannot see the recording command, has to wait for it.
int wait_for_an_unseen_reader() {
    int line[2];
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, line) != 0) return 77;
    char byte = 0;
    if (const pid_t child = fork(); child == 0) {
        answer known;
        numbers(known, 1000);
        if (write(line[1], &byte, 1) != 1 || read(line[1], &byte, 1) != 1) _exit(1);
        allocate_much(nullptr);
        numbers(known, 1000);
        print(known);
        _exit(0);
    }
    if (read(line[0], &byte, 1) != 1) return 1;
    kill(getppid(), SIGSTOP);
    const ssize_t told = write(line[0], &byte, 1);
    usleep(300000);
    kill(getppid(), SIGCONT);
    int status = 0;
    wait(&status);
    return told == 1 && status == 0 ? 0 : 1;
}

// Allocates blocks by one function alone, and does not free them.
void allocate_by(const std::string& function, int count) {
    for (int i = 0; i < count; ++i) {
        if (function == "calloc") kept = std::calloc(1, 16);
        else if (function == "aligned_alloc") kept = std::aligned_alloc(16, 16);
        else if (function == "realloc") kept = std::realloc(kept, i % 2 == 0 ? 16 : 64);
    }
}

}    // namespace

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? std::atoi(argv[2]) : 0;
    struct program {
        const char* name;
        void (*run)();
    };
    constexpr program dimensions[] = {{"density-high", density_high},         {"density-low", density_low},
                                      {"variation-high", variation_high},     {"variation-low", variation_low},
                                      {"locality-high", locality_high},       {"locality-low", locality_low},
                                      {"utilization-high", utilization_high}, {"utilization-low", utilization_low},
                                      {"contention-high", contention_high},   {"contention-low", contention_low}};
    for (const program& one : dimensions) {
        if (name != one.name) continue;
        one.run();
        print(growing(3000));
        return 0;
    }
    if (name == "threads") {
        print(by_threads(number != 0 ? number : 8));
    } else if (name == "callers") {
        const answer known = callers();
        std::printf("all 0 0\n");
        print(known);
    } else if (name == "look-alikes") {
        larger_each_time();
        new_vectors();
        buffers_by_turns();
        churn();
        copies();
        print({});
    } else if (name == "only-numbers") {
        answer known;
        for (int i = 0; i < number; ++i) numbers(known, 100000);
        print(known);
    } else if (name == "crash") {
        print(growing(3000));
        raise(SIGSEGV);
    } else if (name == "killed") {
        print(growing(3000));
        raise(SIGKILL);
    } else if (name == "terminated") {
        print(growing(3000));
        raise(SIGTERM);
    } else if (name == "fork") {
        answer known = growing(1000);
        if (const pid_t child = fork(); child == 0) {
            growing(2000);
            _exit(0);
        } else {
            waitpid(child, nullptr, 0);
        }
        known += growing(1000);
        print(known);
    } else if (name == "unseen-exec") {    // by no function that a library may stand before, and with no environment
        char program[] = "/proc/self/exe";
        char word[] = "busy";
        char* words[] = {program, word, nullptr};
        char* environment[] = {nullptr};
        syscall(SYS_execve, realpath(program, nullptr), words, environment);
    } else if (name == "busy") {
        const std::clock_t begin = std::clock();
        while (std::clock() - begin < CLOCKS_PER_SEC / 4) growing(1000);
    } else if (name == "exec") {
        growing(500);
        execl("/proc/self/exe", "subject", "density-high", nullptr);
    } else if (name == "plugin") {
        for (int i = 0; i < 3; ++i) use_plugin(argv[2], 1000);
    } else if (name == "disk-fills") {
        growing(1000);
        fill_the_disk_for(argv[2]);
        growing(3000);
        return argc > 3 ? std::atoi(argv[3]) : 7;
    } else if (name == "outlived") {
        int told[2];
        if (pipe(told) != 0) return 1;
        if (fork() == 0) {
            growing(1000);
            if (write(told[1], "x", 1) != 1) _exit(1);
            sleep(2);
            _exit(0);
        }
        char byte = 0;
        return read(told[0], &byte, 1) == 1 ? 0 : 1;
    } else if (name == "underscore-exit") {
        print(growing(3000));
        std::fflush(stdout);
        _exit(0);
    } else if (name == "cancelled") {
        return is_cancelled_in_malloc() ? 1 : 0;
    } else if (name == "unseen-reader") {
        return wait_for_an_unseen_reader();
    } else if (name == "allocate-by") {
        allocate_by(argv[2], std::atoi(argv[3]));
    } else if (name == "exit") {
        return number;
    } else if (name == "nothing") {
        return 0;
    } else {
        std::fprintf(stderr, "subject: there is no program \"%s\"\n", name.c_str());
        return 2;
    }
    return 0;
}
