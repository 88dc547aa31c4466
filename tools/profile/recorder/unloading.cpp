// SPDX-License-Identifier: MIT
// dlclose: keeps the addresses of unloaded code free of other code.
//
// The unwinder remembers code by address and is not told of what is unloaded: other code at the same place would be followed wrongly.
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "allocator_behind.hpp"
#include "calls.hpp"
#include "errno_kept.hpp"
#include "stacks.hpp"

namespace headroom::profile { namespace {

struct code_range {
    std::uintptr_t begin;
    std::uintptr_t end;
};

// The programs and libraries in memory, as many as there is room for.
struct loaded_code {
    std::size_t count = 0;
    unsigned long long unloaded = 0;    // since the process began
    code_range ranges[512];

    [[nodiscard]] bool contains(const code_range& wanted) const {
        return std::any_of(ranges, ranges + count, [&](const code_range& one) { return one.begin == wanted.begin; });
    }
};

int add_code(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    auto* const to = static_cast<loaded_code*>(data);
    to->unloaded = info->dlpi_subs;
    code_range range{~std::uintptr_t{0}, 0};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        constexpr std::uintptr_t page = 4096;
        const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
        range.begin = std::min(range.begin, at / page * page);
        range.end = std::max(range.end, (at + part.p_memsz + page - 1) / page * page);
    }
    if (to->count < std::size(to->ranges) && range.begin < range.end) to->ranges[to->count++] = range;
    return 0;
}

// Reserves a range of addresses. False if it is in use again, or the process has many such ranges.
bool reserve(const code_range& range) {
    constexpr unsigned most_reserved = 4096;    // of the 65,530 mappings that Linux allows
    static std::atomic<unsigned> reserved{0};
    if (reserved.fetch_add(1) >= most_reserved) return false;
    void* const wanted = reinterpret_cast<void*>(range.begin);
    const std::size_t size = range.end - range.begin;
    void* const got = mmap(wanted, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return false;
    if (got != wanted) munmap(got, size);
    return got == wanted;
}

}    // namespace
}    // namespace headroom::profile

using namespace headroom::profile;

extern "C" HEADROOM_VISIBLE int dlclose(void* library) noexcept {
    if (next.dlclose == nullptr) look_up_allocator();
    loaded_code before;
    dl_iterate_phdr(add_code, &before);
    const int status = next.dlclose(library);
    const errno_kept kept;
    loaded_code after;
    dl_iterate_phdr(add_code, &after);
    if (before.unloaded == after.unloaded) return status;
    bool kept_free = before.count < std::size(before.ranges);
    for (std::size_t i = 0; i < before.count; ++i) {
        if (!after.contains(before.ranges[i]) && !reserve(before.ranges[i])) kept_free = false;
    }
    // From now on an address may mean something else.
    if (!kept_free) generation.fetch_add(1);
    return status;
}
