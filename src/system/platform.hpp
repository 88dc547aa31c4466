// What the floors above need of the system besides pages. Implemented beside them, in src/system/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// The error code that the functions of pages.hpp return for lack of memory: compare with it.
[[nodiscard]] std::error_code out_of_memory() noexcept;

// Makes the calling thread give way to others. A wish.
void lower_thread_priority() noexcept;

// Starts the library's one thread, which runs `run()` and is delivered no signal. Where code may be unloaded while a thread
// runs it and cannot wait for its end, the code is kept from being unloaded instead. False where no thread is to be had.
[[nodiscard]] bool start_helper_thread(void (*run)()) noexcept;

// Waits until `run()` has returned and the thread is gone. Whether it may be called when code is unloaded or the program
// ends depends on the system: where not, it is not needed, and does nothing.
void join_helper_thread() noexcept;
[[nodiscard]] bool helper_thread_can_be_joined() noexcept;

// The bytes of memory that the process's group may have before the system kills; SIZE_MAX where nobody says so.
std::size_t lowest_cgroup_limit() noexcept;

// True if `bytes` exceed the machine's memory and swap space together. False if the system does not tell. A system call when true, because
// swap space may have been added; seldom one when false.
[[nodiscard]] bool exceeds_ram_and_swap(std::size_t bytes) noexcept;

// Returns the bytes of memory available to the process: of the machine or, if less, below the limit of a control group (inactive file pages
// count as available). SIZE_MAX if the system does not tell. Reads files: 10 us, and as much for each group with a limit.
[[nodiscard]] std::size_t available_memory() noexcept;

// How many mappings the process has, and may have; zeros where nobody says so. Reads files, of all mappings: for who was refused.
struct mapping_count {
    std::size_t used = 0;
    std::size_t most = 0;
};
[[nodiscard]] mapping_count count_mappings() noexcept;

// Tells the leak checker, if there is one that must be told (AddressSanitizer's), that what is pointed to from the range is
// in use, or no longer is.
void set_leak_root(page_range range, bool wanted) noexcept;

[[nodiscard]] bool leak_checker_present() noexcept;

// Tells a heap profiler, if there is one (heaptrack), that the range at `base` holds `bytes` of memory now; 0: it is gone.
void report_memory(std::byte* base, std::size_t bytes) noexcept;
[[nodiscard]] bool heap_profiler_present() noexcept;

// How much of a range has memory behind it.
struct residency {
    std::size_t bytes = 0;    // in all
    std::size_t reach = 0;    // from the start of the range to the end of its last page with memory
};
// Asks the system, which may have to look at every page; says all of the range where it cannot tell.
[[nodiscard]] residency resident(page_range range) noexcept;

// Whether whatever is mapped is locked into memory at once, all of it (mlockall with MCL_FUTURE).
[[nodiscard]] bool mappings_are_locked() noexcept;

// Whether a tool looks for touches of memory that is nobody's, and sees them only where it is inaccessible
// (AddressSanitizer's marks are only in what is committed).
[[nodiscard]] bool memory_checker_present() noexcept;

// Whether a leak checker is at work that takes whatever is readable for memory in use (Valgrind's): pointers left in memory
// that is kept for later would hide leaks.
[[nodiscard]] bool valgrind_present() noexcept;

// Calls `before` in a process about to fork, and `after_in_parent` or `after_in_child` once it has. May be called once.
// Does nothing where there is no fork. Modules register with at_fork(), which keeps them in one order.
void on_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept;

// Makes every other running thread of the process pass a full memory fence before it returns, so that they need none where
// they would need one at every step. False where the system refuses. Costs some microseconds.
bool fence_other_threads() noexcept;
// Whether the system has that call at all; the same answer for the life of the process.
[[nodiscard]] bool other_threads_can_be_fenced() noexcept;

// Calls `run(with)` when the calling thread ends, among the destructors of its thread-local objects. A thread may ask again
// once it has been called, for what those destructors do; whether it is called then depends on the system. One function
// for a thread. False, where it cannot be arranged: for lack of memory.
[[nodiscard]] bool at_thread_end(void (*run)(void*), void* with) noexcept;

// Whether the thread's variables are gone when that is called, so that to name one makes a new one, which nothing frees.
[[nodiscard]] bool thread_locals_gone_at_end() noexcept;

// Calls `run(nullptr)` when the calling thread ends, after the destructors of its thread-local objects, unless the module is unloaded
// before: it keeps no module loaded. One function for the whole process. False where it cannot be arranged.
[[nodiscard]] bool at_thread_end_after_locals(void (*run)(void*)) noexcept;

// Whether this module is being unloaded while the process goes on (dlclose): for destructors of static objects, which run at the end of
// the program as well, beside other threads. False where the system does not tell.
[[nodiscard]] bool module_is_unloading() noexcept;

// Keeps the module that `code` is in (a shared library, a plug-in) loaded until the process ends. A wish.
void keep_module_loaded(const void* code) noexcept;

// Waits while `word` is `value`; may return before. Whoever changes it calls one of the others after that: for a change that
// lets one thread go on, or all. (std::atomic's own functions lose wake-ups in GCC's library where the system has no futex.)
void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
void wake_one(std::atomic<std::uint32_t>& word) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;

}}}    // namespace headroom::detail
