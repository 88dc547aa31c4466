// SPDX-License-Identifier: MIT
// POSIX: functions called at the end of a thread, and keeping modules loaded.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "system/calls.hpp"
#include "system/platform.hpp"
#include "system/thread_end.hpp"

#if defined(__linux__)
// Missing in static programs, and in C libraries that have them in a separate library.
#pragma weak dladdr
#pragma weak dlopen
#endif

namespace headroom { inline namespace v0_1 { namespace detail {

void keep_module_loaded(const void* code) noexcept {
    const errno_guard unchanged;
    Dl_info found;
#if defined(__linux__)
    if (dladdr == nullptr || dlopen == nullptr) return;
#endif
    if (dladdr(code, &found) == 0 || found.dli_fname == nullptr) return;
    // Finds it by the name under which it was loaded, even if the file is gone. The handle is never closed.
#if defined(RTLD_NODELETE)
    static_cast<void>(dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
#else
    static_cast<void>(dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
#endif
}

bool at_thread_end(void (*run)(void*), void* with) noexcept { return run_at_local_destruction(run, with); }

bool thread_locals_gone_at_end() noexcept { return false; }

namespace {

// The key plus 1, or 0; `key_deleted` once the code is unloaded.
constexpr std::uint64_t key_deleted = UINT64_MAX;
constinit std::atomic<std::uint64_t> end_key{0};

struct key_end {
    ~key_end() {
        const std::uint64_t key = end_key.exchange(key_deleted);
        if (key != 0 && key != key_deleted) (void)pthread_key_delete(static_cast<pthread_key_t>(key - 1));
    }
};
[[maybe_unused]] const key_end delete_key;

}    // namespace

bool at_thread_end_after_locals(void (*run)(void*)) noexcept {
    std::uint64_t key = end_key.load();
    if (key == 0) {
        pthread_key_t made;
        if (pthread_key_create(&made, run) != 0) return false;
        const std::uint64_t mine = static_cast<std::uint64_t>(made) + 1;
        if (end_key.compare_exchange_strong(key, mine)) {
            key = mine;
        } else {
            (void)pthread_key_delete(made);    // another thread was faster
        }
    }
    // Any value but null, for which no destructor is called.
    return key != key_deleted && pthread_setspecific(static_cast<pthread_key_t>(key - 1), &end_key) == 0;
}

}}}    // namespace headroom::detail
