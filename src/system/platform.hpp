// System functions besides pages, used by all other folders. Implemented in the .cpp files of src/system/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/pages.hpp>

#include "component_api.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// The error code for lack of memory that the functions of pages.hpp return.
[[nodiscard]] std::error_code out_of_memory() noexcept;

// Starts the library's helper thread, which runs `run()` and receives no signal. False if no thread can be made. If the thread cannot be
// joined when the code is unloaded, keeps the code loaded instead.
[[nodiscard]] bool start_helper_thread(void (*run)()) noexcept;

// Waits until the thread has ended after `run()`. Does nothing where that is impossible while code is unloaded: see the second function.
void join_helper_thread() noexcept;
[[nodiscard]] bool helper_thread_can_be_joined() noexcept;

// Returns the lowest memory limit of the process's control groups in bytes; SIZE_MAX if there is none.
std::size_t lowest_cgroup_limit() noexcept;

// True if `bytes` exceed the machine's memory and swap space together; false if the system does not tell. Asks the system again before it
// returns true, because swap space may have been added.
[[nodiscard]] bool exceeds_ram_and_swap(std::size_t bytes) noexcept;

// True if what is committed counts against a limit before it is touched: on Linux with overcommit off, elsewhere always.
[[nodiscard]] bool charges_count() noexcept;

// Returns the bytes of memory available to the process: of the machine or, if less, below the limit of a control group (inactive file pages
// count as available). SIZE_MAX if the system does not tell. Reads files: 50 us.
[[nodiscard]] std::size_t available_memory() noexcept;

// False if the process is in a control group that may limit its memory and whose files cannot be found. Always false except on Linux.
[[nodiscard]] bool memory_limits_are_visible() noexcept;

// Number of the process's mappings, and their limit; zeros if unknown. Reads files with all mappings: only after a refusal.
struct mapping_count {
    std::size_t used = 0;
    std::size_t most = 0;
};
[[nodiscard]] mapping_count count_mappings() noexcept;
// Returns how many mappings the system allows a process; SIZE_MAX if it does not tell. Reads a file.
[[nodiscard]] std::size_t max_mappings() noexcept;

// Adds the range to, or removes it from, the roots that a leak checker scans for pointers (AddressSanitizer's).
void set_leak_root(page_range range, bool wanted) noexcept;

[[nodiscard]] bool leak_checker_present() noexcept;

// Reports to a heap profiler (heaptrack) that the range at `base` has `bytes` of memory; 0: released.
void tell_heap_profiler(std::byte* base, std::size_t bytes) noexcept;
[[nodiscard]] bool heap_profiler_present() noexcept;

// Returns the value of an environment variable; null if it has none, or if the program runs with the rights of another user.
[[nodiscard]] const char* environment_variable(const char* name) noexcept;

// True if the system gives huge pages to ranges that did not ask for them.
[[nodiscard]] bool huge_pages_come_unasked() noexcept;

// True if new mappings are locked into memory (mlockall with MCL_FUTURE).
[[nodiscard]] bool mappings_are_locked() noexcept;

// True under AddressSanitizer or LeakSanitizer, on Linux only: kept memory is then inaccessible, as the former marks only committed memory.
[[nodiscard]] bool memory_checker_present() noexcept;

// True under Valgrind, whose leak checker takes all readable memory as in use: pointers in kept memory would hide leaks.
[[nodiscard]] bool valgrind_present() noexcept;

// Calls `before` in a process about to fork, and `after_in_parent` or `after_in_child` afterwards. Called once; modules use at_fork(),
// which orders them. Does nothing where there is no fork.
void on_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept;

// Makes all other threads of the process pass a full memory fence before it returns. Precondition: other_threads_can_be_fenced()
// returned true. False if refused. Costs some microseconds.
bool fence_other_threads() noexcept;
// True if fence_other_threads() works. The first call registers the process: milliseconds once it has several threads.
[[nodiscard]] bool other_threads_can_be_fenced() noexcept;

// Calls `run(with)` when the calling thread ends, among the destructors of its thread-local objects. One function for a thread. May be
// called again from `run`; whether the second call runs depends on the system. False if out of memory.
[[nodiscard]] bool at_thread_end(void (*run)(void*), void* with) noexcept;

// True if thread-local variables are gone when that is called: using one would make a new one that is never freed.
[[nodiscard]] bool thread_locals_gone_at_end() noexcept;

// Calls `run(nullptr)` when the calling thread ends, after the destructors of its thread-local objects, unless the module is unloaded
// before. Keeps no module loaded. Pass the same function always: only the first one is called. False if refused.
[[nodiscard]] bool at_thread_end_after_locals(void (*run)(void*)) noexcept;

// True in destructors of static objects if this module is unloaded while the process goes on (dlclose), false at the end of the program.
// False if the system does not tell.
[[nodiscard]] bool module_is_unloading() noexcept;

// Keeps the module of `code` (a shared library, a plug-in) loaded until the process ends. Best effort.
HEADROOM_FOR_COMPONENTS void keep_module_loaded(const void* code) noexcept;

// Wait while `word` is `value`, possibly shorter; wake one waiting thread or all. A thread that changes the word calls a wake function
// afterwards. std::atomic's functions are not used: GCC's library loses wake-ups where the system has no futex.
HEADROOM_FOR_COMPONENTS void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
HEADROOM_FOR_COMPONENTS void wake_one(std::atomic<std::uint32_t>& word) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;

}}}    // namespace headroom::detail
