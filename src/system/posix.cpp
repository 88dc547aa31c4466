// Pages on any POSIX system with anonymous mappings (macOS, FreeBSD, NetBSD, OpenBSD, illumos): reserve, commit and protect. Calls that
// POSIX lacks (populating, moving, huge pages, names) return function_not_supported.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <headroom/pages.hpp>

#include "system/calls.hpp"
#include "system/platform.hpp"
#include "system/posix.hpp"

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

namespace headroom { inline namespace v0_1 {
namespace {

using detail::make_call;
using detail::real_page_size;
using detail::system_error;

std::error_code unsupported() noexcept { return std::make_error_code(std::errc::function_not_supported); }

int rights_of(access allowed) noexcept {
    return allowed == access::none ? PROT_NONE : allowed == access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
}

// Maps fresh pages over the range: the only way in POSIX to release memory.
std::error_code map_over(page_range range, access allowed) noexcept {
    return make_call(page_call::decommit, [=] {
        return mmap(range.data, range.bytes, rights_of(allowed), MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED
                   ? -1
                   : 0;
    });
}

}    // namespace

std::size_t huge_page_size() noexcept { return 0; }

page_range reserve(std::size_t bytes, std::size_t alignment, std::error_code& error, access initial) noexcept {
    error.clear();
    const std::size_t page = page_size();
    if (!detail::is_reservable(bytes, alignment)) {
        error = system_error(ENOMEM);
        return {};
    }
    bytes = detail::round_up(bytes, page);
    if (alignment < page) alignment = page;
    const std::size_t spare = alignment > real_page_size() ? alignment : 0;
    if (const int refused = detail::intercept(page_call::reserve)) {
        error = system_error(refused);
        return {};
    }
    const detail::errno_guard unchanged;
    const std::size_t limit = detail::overridden_address_limit();
    void* const mapped = limit != 0 && bytes > limit
                             ? (errno = ENOMEM, MAP_FAILED)
                             : mmap(nullptr, bytes + spare, rights_of(initial), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        detail::count_refusal();
        error = system_error(errno);
        return {};
    }
    const page_range range{static_cast<std::byte*>(mapped), bytes + spare};
    return spare == 0 ? range : detail::trim_to_aligned(range, bytes, alignment, error);
}

std::error_code release(page_range range) noexcept {
    if (range.bytes == 0) return {};
    return make_call(page_call::release, [=] { return munmap(range.data, range.bytes); });
}

std::error_code commit(page_range range) noexcept {
    return make_call(page_call::commit, [=] { return mprotect(range.data, range.bytes, PROT_READ | PROT_WRITE); });
}

std::error_code decommit(page_range range) noexcept { return map_over(range, access::none); }

std::error_code discard(page_range range) noexcept { return map_over(range, access::read_write); }

std::error_code protect(page_range range, access allowed) noexcept {
    return make_call(page_call::protect, [=] { return mprotect(range.data, range.bytes, rights_of(allowed)); });
}

std::error_code prefault(page_range) noexcept { return unsupported(); }

std::error_code advise_huge(page_range, bool) noexcept { return unsupported(); }

std::error_code remap(page_range, page_range) noexcept { return unsupported(); }

std::error_code guard(page_range range) noexcept { return protect(range, access::none); }

std::error_code name(page_range, const char*) noexcept { return unsupported(); }

namespace detail {

std::size_t lowest_cgroup_limit() noexcept { return SIZE_MAX; }

bool exceeds_ram_and_swap(std::size_t) noexcept { return false; }

bool charges_count() noexcept { return true; }

std::size_t available_memory() noexcept { return SIZE_MAX; }

bool memory_limits_are_visible() noexcept { return false; }

mapping_count count_mappings() noexcept { return {}; }
std::size_t max_mappings() noexcept { return SIZE_MAX; }

void set_leak_root(page_range, bool) noexcept {}

void tell_heap_profiler(std::byte*, std::size_t) noexcept {}

bool mappings_are_locked() noexcept { return false; }

const char* environment_variable(const char* name) noexcept {
#if defined(__linux__)    // where this layer can be tried
    return secure_getenv(name);
#else
    return issetugid() != 0 ? nullptr : std::getenv(name);
#endif
}

bool huge_pages_come_unasked() noexcept { return false; }

bool leak_checker_present() noexcept { return false; }

bool heap_profiler_present() noexcept { return false; }

bool memory_checker_present() noexcept { return false; }

bool valgrind_present() noexcept { return false; }

bool module_is_unloading() noexcept { return false; }

void on_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept {
    (void)pthread_atfork(before, after_in_parent, after_in_child);
}

bool other_threads_can_be_fenced() noexcept { return false; }
bool fence_other_threads() noexcept { return false; }

// No futex on these systems; libc++'s atomic wait does not lose wake-ups.
void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    word.wait(value, std::memory_order_relaxed);
}
void wake_one(std::atomic<std::uint32_t>& word) noexcept { word.notify_one(); }
void wake_all(std::atomic<std::uint32_t>& word) noexcept { word.notify_all(); }

}    // namespace detail
}}    // namespace headroom
