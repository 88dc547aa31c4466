// SPDX-License-Identifier: MIT
// Most code for x86-64 has no frame pointers: libunwind follows its stacks.
//
// The library is loaded beside the program's own, so that none of its functions for exceptions comes before theirs.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "allocator_behind.hpp"
#include "calls.hpp"
#include "errno_kept.hpp"
#include "not_cancelled.hpp"
#include "unwind.hpp"

namespace headroom::profile {
namespace {

using backtrace_function = int(void** to, int size);
std::atomic<backtrace_function*> backtrace;
const void* library_base;

// The library takes locks for code that it has not met. A thread that forks waits until no other is inside, so that the child finds
// them free.
struct alignas(64) thread_count {
    std::atomic<int> inside{0};
};
constinit thread_count counts[64];    // of threads with the same number modulo 64
constinit std::atomic<bool> forking{false};

// Waits until `is_done` returns true, at most about 0.2 s: the other thread may need a lock that this one holds.
template <class Condition>
void wait_for(Condition is_done) {
    const not_cancelled guard;
    for (int round = 0; !is_done() && round < 2000; ++round) {
        const timespec moment{0, 50000};
        nanosleep(&moment, nullptr);
    }
}

constexpr std::size_t most_own = 8;    // frames of the recorder, which come first
using addresses = void * [most_frames + most_own];

// Stores the return addresses of this thread's stack, those of the recorder first; returns how many, or less than 0 on failure.
int follow(addresses& to) { return backtrace.load(std::memory_order_relaxed)(to, static_cast<int>(std::size(to))); }

int follow_among_threads(addresses& to) {
    std::atomic<int>& inside = counts[self.id % std::size(counts)].inside;
    inside.fetch_add(1);
    if (forking.load()) [[unlikely]] {
        inside.fetch_sub(1);
        wait_for([] { return !forking.load(); });
        inside.fetch_add(1);
    }
    const not_cancelled guard;    // the library reads and writes files
    const int size = follow(to);
    inside.fetch_sub(1, std::memory_order_release);
    return size;
}

void before_fork() {
    if (self.inside) return;    // a signal handler that interrupted the recorder: its own thread would be waited for
    wait_for([] { return !forking.exchange(true); });
    for (const thread_count& each : counts) wait_for([&] { return each.inside.load() == 0; });
}
void after_fork() { forking.store(false); }

// Moves a file to a descriptor that programs do not use, so that they get the numbers that they get without a recorder. Returns it.
int move_descriptor_up(int file) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const int from = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 4096)) - 16;
    const int moved = from > file ? fcntl(file, F_DUPFD_CLOEXEC, from) : -1;
    if (moved < 0) return file;
    close(file);
    return moved;
}

constinit function_behind<int(int*, int)> next_pipe2("pipe2");

}    // namespace

bool set_up_unwinder() {
    if (backtrace.load(std::memory_order_relaxed) != nullptr) return true;
    void* const library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    auto* const found = reinterpret_cast<backtrace_function*>(dlsym(library, "unw_backtrace"));
    Dl_info where{};
    if (found == nullptr || dladdr(reinterpret_cast<void*>(found), &where) == 0) return false;
    library_base = where.dli_fbase;
    backtrace.store(found, std::memory_order_relaxed);
    pthread_atfork(before_fork, after_fork, after_fork);
    return true;
}

std::size_t unwind(const void* frame, std::uintptr_t (&to)[most_frames]) {
    const errno_kept kept;
    addresses found;
    const int size = channel::is_alone() ? follow(found) : follow_among_threads(found);
    const std::uintptr_t caller = caller_of(frame);
    const auto is_caller = [&](void* address) { return reinterpret_cast<std::uintptr_t>(address) == caller; };
    void** const end = found + std::max(size, 0);
    void** const first = std::find_if(found, std::min(end, found + most_own), is_caller);
    to[0] = caller;
    if (first == end || !is_caller(*first)) return 1;
    const std::size_t count = std::min(static_cast<std::size_t>(end - first), most_frames);
    std::transform(first, first + count, to, [](void* address) { return reinterpret_cast<std::uintptr_t>(address); });
    return count;
}

}    // namespace headroom::profile

using namespace headroom::profile;

// The library opens a pipe, by which it finds out whether memory can be read.
extern "C" HEADROOM_VISIBLE int pipe2(int ends[2], int flags) noexcept {
    const int status = next_pipe2.get(HEADROOM_CALLER)(ends, flags);
    Dl_info from{};
    if (status == 0 && self.inside && dladdr(HEADROOM_CALLER, &from) != 0 && from.dli_fbase == library_base) {
        for (int* const end : {&ends[0], &ends[1]}) *end = move_descriptor_up(*end);
    }
    return status;
}
