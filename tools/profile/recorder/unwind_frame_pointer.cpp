// Processors whose calling convention keeps a chain of frame pointers (64-bit ARM): the chain is followed.
#include <link.h>

#include <atomic>

#include "unwind.hpp"

namespace headroom::profile {
namespace {

constexpr std::uintptr_t largest_frame = std::uintptr_t{1} << 20;

// Pages of code whose module was reported already, by page number modulo 1024: the loader is called once for each.
std::atomic<std::uintptr_t> met[1024];

int visit(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    const std::uintptr_t pc = *static_cast<std::uintptr_t*>(data);
    std::uintptr_t begin = ~std::uintptr_t{0};
    std::uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
        if (at < begin) begin = at;
        if (at + part.p_memsz > end) end = at + part.p_memsz;
    }
    if (pc < begin || pc >= end) return 0;
    code_found(begin, end, info->dlpi_addr, info->dlpi_name);
    return 1;
}

}    // namespace

std::uint64_t unwind(frame_start from, call_stack& stack) {
    std::size_t count = 0;
    while (count < most_frames && from.pc != 0) {
        stack.fresh[count++].pc = from.pc;
        std::atomic<std::uintptr_t>& page = met[(from.pc >> 12) % 1024];
        if (page.exchange(from.pc >> 12, std::memory_order_relaxed) != from.pc >> 12) dl_iterate_phdr(visit, &from.pc);
        if (from.fp < from.sp || from.fp - from.sp > largest_frame || from.fp % 16 != 0) break;
        const auto* const words = reinterpret_cast<const std::uintptr_t*>(from.fp);
        from = {words[1], from.fp + 16, words[0]};
    }
    std::uint64_t hash = 0;
    stack.depth = 0;
    while (count > 0) {    // the outermost goes last
        const std::uintptr_t pc = stack.fresh[--count].pc;
        stack.steps[most_frames - ++stack.depth] = {pc, 0, 0, hash = hash_of(pc, hash), -1, false, false, false};
    }
    return hash;
}

void forget_code() {
    for (std::atomic<std::uintptr_t>& page : met) page.store(0, std::memory_order_relaxed);
}

}    // namespace headroom::profile
