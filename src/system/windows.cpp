// Pages on Windows, which reserves, commits and refuses by itself; nothing can be premapped. Missing calls: function_not_supported.
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <iterator>

#include <headroom/pages.hpp>

#include "system/calls.hpp"
#include "system/platform.hpp"
#include "system/thread_end.hpp"

// GCC frees thread-local variables before it calls their destructors. Its own function registers a destructor for other memory.
#if defined(__GNUC__) && !defined(__clang__)
#define HEADROOM_EMULATED_THREAD_VARIABLES
#include <cxxabi.h>
extern "C" void* __dso_handle;
#endif

namespace headroom { inline namespace v0_1 {
namespace {

std::error_code unsupported() noexcept { return std::make_error_code(std::errc::function_not_supported); }

// Tests choose a refusal by errno, as on other systems. Callers compare with std::errc, which matches both kinds of code.
std::error_code refused_by_test(int error) noexcept { return {error, std::generic_category()}; }

std::error_code last_error() noexcept {
    const DWORD error = GetLastError();
    // The system has several errors for lack of memory, the standard one.
    switch (error) {
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_OUTOFMEMORY:
        case ERROR_COMMITMENT_LIMIT:
        case ERROR_COMMITMENT_MINIMUM:
        case ERROR_INVALID_ADDRESS: return std::make_error_code(std::errc::not_enough_memory);
        default: return {static_cast<int>(error), std::system_category()};
    }
}

template <class Call>
std::error_code make_call(page_call kind, Call call) noexcept {
    if (const int refused = detail::intercept(kind)) return refused_by_test(refused);
    if (call()) return {};
    detail::count_refusal();
    return last_error();
}

std::size_t real_page_size() noexcept {
    static constinit std::atomic<std::size_t> known{0};
    std::size_t bytes = known.load(std::memory_order_relaxed);
    if (bytes == 0) {
        SYSTEM_INFO info;
        GetSystemInfo(&info);
        bytes = info.dwPageSize;
        known.store(bytes, std::memory_order_relaxed);
    }
    return bytes;
}

void* take(void* at, std::size_t bytes) noexcept { return VirtualAlloc(at, bytes, MEM_RESERVE, PAGE_NOACCESS); }

}    // namespace

std::size_t page_size() noexcept {
    const std::size_t overrides = detail::overridden_page_size();
    return overrides != 0 ? overrides : real_page_size();
}

std::size_t huge_page_size() noexcept { return 0; }    // large pages need a privilege and cannot be committed in parts

page_range reserve(std::size_t bytes, std::size_t alignment, std::error_code& error, access initial) noexcept {
    error.clear();
    const std::size_t page = page_size();
    if (!detail::is_reservable(bytes, alignment)) {
        error = std::make_error_code(std::errc::not_enough_memory);
        return {};
    }
    if (initial != access::none) {
        error = unsupported();
        return {};
    }
    bytes = detail::round_up(bytes, page);
    alignment = std::max(alignment, page);
    if (const int refused = detail::intercept(page_call::reserve)) {
        error = refused_by_test(refused);
        return {};
    }
    const std::size_t limit = detail::overridden_address_limit();
    if (limit != 0 && bytes > limit) {
        error = std::make_error_code(std::errc::not_enough_memory);
        return {};
    }
    // A reservation cannot be trimmed: reserves more to find an aligned address, releases that, and reserves the address. Another thread
    // may take it first, so it tries again.
    for (int tries = 0; tries < 64; ++tries) {
        void* const first = take(nullptr, tries == 0 ? bytes : bytes + alignment);
        if (first == nullptr) {
            detail::count_refusal();
            error = last_error();
            return {};
        }
        std::byte* const aligned = detail::aligned_within({static_cast<std::byte*>(first), bytes}, alignment);
        if (tries == 0 && aligned == first) return {aligned, bytes};
        VirtualFree(first, 0, MEM_RELEASE);
        if (void* const second = take(aligned, bytes)) return {static_cast<std::byte*>(second), bytes};
    }
    error = std::make_error_code(std::errc::not_enough_memory);
    return {};
}

std::error_code release(page_range range) noexcept {
    return make_call(page_call::release, [=] { return VirtualFree(range.data, 0, MEM_RELEASE); });
}

// Two system calls, counted as one: a test that refused the second alone would leave the range half changed.
std::error_code commit(page_range range) noexcept {
    return make_call(page_call::commit, [=] {
        DWORD before;
        // Committed memory may have another access; the contract makes all of it writable.
        return VirtualAlloc(range.data, range.bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr &&
               VirtualProtect(range.data, range.bytes, PAGE_READWRITE, &before);
    });
}

std::error_code decommit(page_range range) noexcept {
    return make_call(page_call::decommit, [=] { return VirtualFree(range.data, range.bytes, MEM_DECOMMIT); });
}

std::error_code discard(page_range range) noexcept {
    return make_call(page_call::decommit, [=] {
        // Where memory is short, another process could take the charge in between, and the pages would stay inaccessible.
        MEMORYSTATUSEX about{};
        about.dwLength = sizeof about;
        if (GlobalMemoryStatusEx(&about) && about.ullAvailPageFile < range.bytes) {
            SetLastError(ERROR_COMMITMENT_LIMIT);
            return false;
        }
        return VirtualFree(range.data, range.bytes, MEM_DECOMMIT) &&
               VirtualAlloc(range.data, range.bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
    });
}

std::error_code protect(page_range range, access allowed) noexcept {
    const DWORD protection = allowed == access::none        ? PAGE_NOACCESS
                             : allowed == access::read_only ? PAGE_READONLY
                                                            : PAGE_READWRITE;
    DWORD before;
    return make_call(page_call::protect, [&] { return VirtualProtect(range.data, range.bytes, protection, &before); });
}

std::error_code prefault(page_range) noexcept { return unsupported(); }

std::error_code advise_huge(page_range, bool) noexcept { return unsupported(); }

std::error_code remap(page_range, page_range) noexcept { return unsupported(); }

std::error_code guard(page_range) noexcept { return unsupported(); }

std::error_code name(page_range, const char*) noexcept { return unsupported(); }

namespace detail {

std::error_code out_of_memory() noexcept { return std::make_error_code(std::errc::not_enough_memory); }

std::size_t lowest_cgroup_limit() noexcept { return SIZE_MAX; }

bool exceeds_ram_and_swap(std::size_t) noexcept { return false; }

std::size_t available_memory() noexcept { return SIZE_MAX; }

bool memory_limits_are_visible() noexcept { return false; }

mapping_count count_mappings() noexcept { return {}; }
std::size_t max_mappings() noexcept { return SIZE_MAX; }

void keep_module_loaded(const void* code) noexcept {
    HMODULE module = nullptr;
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, static_cast<const char*>(code),
                       &module);
}

void set_leak_root(page_range, bool) noexcept {}

void tell_heap_profiler(std::byte*, std::size_t) noexcept {}

bool start_helper_thread(void (*run)()) noexcept {
    // A thread cannot be joined while its library is unloaded, because its end needs the same lock: keeps the library loaded.
    HMODULE self;
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            reinterpret_cast<LPCWSTR>(reinterpret_cast<void*>(&start_helper_thread)), &self)) {
        return false;
    }
    const auto enter = [](void* what) -> DWORD {
        reinterpret_cast<void (*)()>(what)();
        return 0;
    };
    const HANDLE thread = CreateThread(nullptr, 0, enter, reinterpret_cast<void*>(run), 0, nullptr);
    if (thread == nullptr) return false;
    CloseHandle(thread);
    return true;
}
void join_helper_thread() noexcept {}
bool helper_thread_can_be_joined() noexcept { return false; }

bool mappings_are_locked() noexcept { return false; }

bool charges_count() noexcept { return true; }

const char* environment_variable(const char* name) noexcept {
    static char value[1024];    // asked for once
    const DWORD length = GetEnvironmentVariableA(name, value, sizeof value);
    return length != 0 && length < sizeof value ? value : nullptr;
}

bool huge_pages_come_unasked() noexcept { return false; }

bool leak_checker_present() noexcept { return false; }

bool heap_profiler_present() noexcept { return false; }

bool memory_checker_present() noexcept { return false; }

bool valgrind_present() noexcept { return false; }

void on_fork(void (*)(), void (*)(), void (*)()) noexcept {}

bool other_threads_can_be_fenced() noexcept { return true; }
bool fence_other_threads() noexcept {
    FlushProcessWriteBuffers();
    return true;
}

#ifdef HEADROOM_EMULATED_THREAD_VARIABLES

bool at_thread_end(void (*run)(void*), void* with) noexcept { return abi::__cxa_thread_atexit(run, with, &__dso_handle) == 0; }

bool thread_locals_gone_at_end() noexcept { return true; }

#else

bool at_thread_end(void (*run)(void*), void* with) noexcept { return run_at_local_destruction(run, with); }

bool thread_locals_gone_at_end() noexcept { return false; }

#endif

bool at_thread_end_after_locals(void (*)(void*)) noexcept { return false; }

bool module_is_unloading() noexcept { return false; }

namespace {

// For all words, because waiting is rare.
SRWLOCK word_lock = SRWLOCK_INIT;
CONDITION_VARIABLE word_changed = CONDITION_VARIABLE_INIT;

}    // namespace

void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    AcquireSRWLockExclusive(&word_lock);
    // Wakes by itself now and then: another module's copy of the library may change the word, and wakes only its own waiters.
    constexpr DWORD longest = 10;    // ms
    while (word.load(std::memory_order_relaxed) == value) SleepConditionVariableSRW(&word_changed, &word_lock, longest, 0);
    ReleaseSRWLockExclusive(&word_lock);
}

void wake_all(std::atomic<std::uint32_t>&) noexcept {
    // A thread that saw the old value is asleep once this has the lock, or will check again.
    AcquireSRWLockExclusive(&word_lock);
    ReleaseSRWLockExclusive(&word_lock);
    WakeAllConditionVariable(&word_changed);
}

void wake_one(std::atomic<std::uint32_t>& word) noexcept { wake_all(word); }    // the one woken might wait for another word

}    // namespace detail
}}    // namespace headroom
