// Pages on Linux, from kernel 4.14. Populating and moving without unmapping may be unsupported. Guard markers and names: linux_marks.cpp.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <headroom/pages.hpp>

#include "system/calls.hpp"
#include "system/linux.hpp"
#include "system/platform.hpp"
#include "system/unmap_queue.hpp"

// Present in programs built with MemorySanitizer, which does not intercept madvise and mremap.
extern "C" {
[[gnu::weak]] void __msan_unpoison(const volatile void* data, std::size_t bytes);
}

// The C library's headers may be older than the kernel.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace headroom { inline namespace v0_1 {
namespace {

// Without MAP_NORESERVE, so that the system checks, when pages become writable, that it can provide them.
constexpr int map_flags = MAP_PRIVATE | MAP_ANONYMOUS;

// Makes call(data, bytes, how), unless a test refuses it. Out of line, because there are many alike.
HEADROOM_NOINLINE std::error_code call_on_range(page_call kind, page_range range, int (*call)(void*, std::size_t, int),
                                                int how) noexcept {
    return detail::make_call(kind, [=] { return call(range.data, range.bytes, how); });
}
HEADROOM_ALWAYS_INLINE std::error_code advise(page_call kind, page_range range, int advice) noexcept {
    return call_on_range(kind, range, madvise, advice);
}
HEADROOM_ALWAYS_INLINE std::error_code set_protection(page_call kind, page_range range, int protection) noexcept {
    return call_on_range(kind, range, mprotect, protection);
}

// Discards the pages' contents: they read as zero.
HEADROOM_ALWAYS_INLINE std::error_code discard_pages(page_range range) noexcept {
    const std::error_code error = advise(page_call::decommit, range, MADV_DONTNEED);
    if (!error && __msan_unpoison != nullptr) __msan_unpoison(range.data, range.bytes);
    return error;
}

// Maps `bytes` of anonymous memory. If refused, sets `error` and returns an empty range. The caller restores errno.
page_range map(std::size_t bytes, access initial, std::error_code& error) noexcept {
    error.clear();
    if (const int refused = detail::intercept(page_call::reserve)) {
        error = detail::system_error(refused);
        return {};
    }
    const std::size_t limit = detail::overridden_address_limit();
    const int protection = initial == access::read_write  ? PROT_READ | PROT_WRITE
                           : initial == access::read_only ? PROT_READ
                                                          : PROT_NONE;
    void* const data = (limit != 0 && bytes > limit) || (initial == access::read_write && detail::exceeds_ram_and_swap(bytes))
                           ? (errno = ENOMEM, MAP_FAILED)
                           : mmap(nullptr, bytes, protection, map_flags, -1, 0);
    if (data == MAP_FAILED) {
        detail::count_refusal();
        error = detail::system_error(errno);
        return {};
    }
    return {static_cast<std::byte*>(data), bytes};
}

// Fills a hole at `range`, if there is one: the system may have unmapped the range before it refused to map there. Does nothing otherwise.
// Kernels before 4.17 ignore the flag and map elsewhere.
void fill_hole(page_range range, int protection) noexcept {
    void* const filled = mmap(range.data, range.bytes, protection, map_flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (filled != MAP_FAILED && filled != range.data) (void)munmap(filled, range.bytes);
}

}    // namespace

namespace detail {

// False under QEMU's user mode, which ignores any advice: guards have no effect there, and memory after MREMAP_DONTUNMAP faults.
bool rejects_unknown_advice(page_range range) noexcept {
    static constinit std::atomic<int> known{0};    // 0: not asked, 1: no, 2: yes
    int answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
        constexpr int unheard_of = 0x7ffffff0;
        answer = madvise(range.data, range.bytes, unheard_of) == 0 ? 1 : 2;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == 2;
}

}    // namespace detail

page_range reserve(std::size_t bytes, std::size_t alignment, std::error_code& error, access initial) noexcept {
    const detail::errno_guard unchanged;
    const std::size_t page = page_size();
    if (!detail::is_reservable(bytes, alignment)) {
        error = detail::system_error(ENOMEM);
        return {};
    }
    bytes = detail::round_up(bytes, page);
    if (alignment < page) alignment = page;
    // One call suffices if the system's choice is aligned.
    page_range range = map(bytes, initial, error);
    if (error) return {};
    if (detail::aligned_within(range, alignment) != range.data) {
        detail::unmap_or_queue(range);
        range = map(bytes + alignment, initial, error);
        if (error) return {};
        range = detail::trim_to_aligned(range, bytes, alignment, error);
        if (error) return {};
    }
    // Keeps sparse gigabytes out of core files. The system leaves out inaccessible ranges itself.
    if (initial != access::none) (void)advise(page_call::other, {range.data, bytes}, MADV_DONTDUMP);
    return range;
}

std::error_code release(page_range range) noexcept {
    if (range.bytes == 0) return {};
    return call_on_range(page_call::release, range, [](void* at, std::size_t count, int) { return munmap(at, count); }, 0);
}

std::error_code commit(page_range range) noexcept {
    // With unlimited overcommit the system refuses nothing.
    if (detail::exceeds_ram_and_swap(range.bytes)) return detail::out_of_memory();
    // Not by mapping over the range, which leaves a hole if refused half-way, where another thread may map.
    return set_protection(page_call::commit, range, PROT_READ | PROT_WRITE);
}

std::error_code decommit(page_range range) noexcept {
    // Discards first, then protects: if either is refused, the caller's committed memory is usable. In the other order a refusal would
    // have to be undone by a call that may be refused too.
    if (auto error = discard_pages(range)) return error;
    if (auto error = set_protection(page_call::protect, range, PROT_NONE)) return error;
    // With overcommit off, the charge lasts until something is mapped over the pages. Done last: if refused for lack of memory for its own
    // lists, the system may have unmapped the range, so only the hole is filled then.
    if (detail::overcommit_is_off()) {
        const detail::errno_guard unchanged;
        if (detail::make_call(page_call::decommit, [=] {
                return mmap(range.data, range.bytes, PROT_NONE, map_flags | MAP_FIXED, -1, 0) == MAP_FAILED ? -1 : 0;
            }))
            fill_hole(range, PROT_NONE);
    }
    return {};
}

std::error_code discard(page_range range) noexcept { return discard_pages(range); }

std::error_code protect(page_range range, access allowed) noexcept {
    const int protection = allowed == access::none        ? PROT_NONE
                           : allowed == access::read_only ? PROT_READ
                                                          : PROT_READ | PROT_WRITE;
    return set_protection(page_call::protect, range, protection);
}

std::error_code prefault(page_range range) noexcept {
    static constinit std::atomic<bool> unknown{false};    // to kernels before 5.14, or forbidden
    const detail::errno_guard unchanged;
    if (!unknown.load(std::memory_order_relaxed) && detail::rejects_unknown_advice(range)) {
        const std::error_code error = advise(page_call::prefault, range, MADV_POPULATE_WRITE);
        if (!error) return error;
        // The error may concern these pages, or memory; not if it also comes for zero bytes.
        if (madvise(range.data, 0, MADV_POPULATE_WRITE) == 0) return error;
        unknown.store(true, std::memory_order_relaxed);
    }
    return detail::system_error(ENOSYS);
}

std::error_code advise_huge(page_range range, bool wanted) noexcept {
    return advise(page_call::other, range, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

namespace {

// True if the pages are one mapping. Tries to extend them by a page: EFAULT means several mappings. A page gained goes back.
bool is_one_mapping(page_range range) noexcept {
    const std::size_t more = range.bytes + page_size();
    if (mremap(range.data, range.bytes, more, 0) == MAP_FAILED) return errno != EFAULT;
    (void)mremap(range.data, more, range.bytes, 0);
    return true;
}

// Returns the pages from the first on that are one mapping.
page_range first_mapping(page_range range) noexcept {
    if (is_one_mapping(range)) return range;
    const std::size_t page = page_size();
    std::size_t one = page, several = range.bytes;
    while (several - one > page) {
        const std::size_t middle = one + (several - one) / 2 / page * page;
        (is_one_mapping({range.data, middle}) ? one : several) = middle;
    }
    return {range.data, one};
}

// mremap of one mapping. On success `from` stays mapped and reads as zero; on failure it is unchanged, and `to` may be zeroed.
bool move_mapping(page_range from, std::byte* to) noexcept {
    const std::error_code error = detail::make_call(page_call::remap, [=] {
        return mremap(from.data, from.bytes, from.bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) == MAP_FAILED ? -1
                                                                                                                             : 0;
    });
    if (!error) {
        // MemorySanitizer's state of single bytes is not moved.
        if (__msan_unpoison != nullptr) __msan_unpoison(to, from.bytes);
        return true;
    }
    // Unmapped only if the system ran out of memory for its own lists.
    fill_hole({to, from.bytes}, PROT_READ | PROT_WRITE);
    return false;
}

}    // namespace

// Moves each mapping by a call of its own: given several, kernels up to 6.16 unmap the target first, and another thread could map
// there. Moves nothing where the system may refuse to charge `from` a second time, which it does after unmapping the target: with
// overcommit off, or if the range exceeds all memory; nor under QEMU. ENOSYS: nothing has moved, or what had was copied back.
std::error_code remap(page_range from, page_range to) noexcept {
    const detail::errno_guard unchanged;
    const std::error_code cannot = detail::system_error(ENOSYS);
    if (!detail::rejects_unknown_advice(from) || detail::overcommit_is_off() || detail::exceeds_ram_and_swap(from.bytes)) {
        return cannot;
    }
    for (std::size_t moved = 0; moved != from.bytes;) {
        const page_range mapping = first_mapping({from.data + moved, from.bytes - moved});
        if (!move_mapping(mapping, to.data + moved)) {
            std::memcpy(from.data, to.data, moved);    // cannot be refused, unlike moving back
            return cannot;
        }
        moved += mapping.bytes;
    }
    return {};
}

}}    // namespace headroom

#ifdef HEADROOM_GDB_SCRIPT
// Embeds the debugger's printers in the program (kind 4: Python text). Here, because every program on an ELF system links this file.
asm(".pushsection \".debug_gdb_scripts\", \"MS\",%progbits,1\n"
    ".byte 4\n"
    ".ascii \"headroom-printers\\n\"\n"
    ".incbin \"" HEADROOM_GDB_SCRIPT
    "\"\n"
    ".byte 0\n"
    ".popsection\n");
#endif
