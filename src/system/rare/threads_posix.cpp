// Threads on POSIX systems: the helper's, what is run when one ends, and keeping the code that they run.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "system/calls.hpp"
#include "system/helper_thread.hpp"
#include "system/platform.hpp"
#include "system/thread_end.hpp"

#if defined(__linux__)
// Missing from static programs, which load nothing, and where the C library has them in a part of its own that nobody linked.
#pragma weak dladdr
#pragma weak dlopen
#endif

namespace headroom { inline namespace v0_1 { namespace detail {

void lower_thread_priority() noexcept {
#if defined(__linux__)
    // On Linux a thread's nice value is its own.
    (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 5);
#endif
}

void keep_loaded(const void* code) noexcept {
    const kept_errno unchanged;
    Dl_info found;
#if defined(__linux__)
    if (dladdr == nullptr || dlopen == nullptr) return;
#endif
    if (dladdr(code, &found) == 0 || found.dli_fname == nullptr) return;
    // The name under which it was loaded finds it again, even if the file is gone. The handle is never given back.
#if defined(RTLD_NODELETE)
    static_cast<void>(dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
#else
    static_cast<void>(dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
#endif
}

namespace {
constinit posix_helper the_helper_thread;
}    // namespace

bool start_helper_thread(void (*run)()) noexcept { return the_helper_thread.start(run); }
void join_helper_thread() noexcept { the_helper_thread.join(); }
bool helper_thread_can_be_joined() noexcept { return true; }

bool at_thread_end(void (*run)(void*), void* with) noexcept { return run_by_destructor(run, with); }

bool thread_variables_gone_at_end() noexcept { return false; }

}}}    // namespace headroom::detail
