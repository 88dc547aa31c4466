// x86-64: most code has no frame pointers, so stacks are unwound by call frame information, a row for each return
// address remembered in a table that all threads read without a lock.
#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstring>

#include "call_frame.hpp"
#include "unwind.hpp"

namespace headroom::profile {
namespace {

// A row, and what tells whose it is. Threads write and read both words without a lock while others forget them: a word of one row beside
// a word of another, or a row that was looked up before the last forgetting, does not say of any address that it is its row.
struct remembered {
    std::atomic<std::uint64_t> key;    // key_of(); 0, with a row of 0: free
    std::atomic<std::uint64_t> row;
};
std::uint64_t key_of(std::uintptr_t pc, std::uint64_t row, std::uint64_t forgotten) {
    return pc ^ row * 0x9e3779b97f4a7c15U ^ forgotten * 0xd1342543de82ef95U;
}
constexpr std::size_t table_size = std::size_t{1} << 16;
std::atomic<remembered*> rows;
std::atomic<std::uint64_t> times_forgotten;

struct wanted {
    std::uintptr_t pc;
    const std::uint8_t* search_table;
};

int visit(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    auto* const found = static_cast<wanted*>(data);
    std::uintptr_t begin = ~std::uintptr_t{0};
    std::uintptr_t end = 0;
    bool holds = false;
    const std::uint8_t* table = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD) {
            if (at < begin) begin = at;
            if (at + part.p_memsz > end) end = at + part.p_memsz;
            holds = holds || (found->pc >= at && found->pc < at + part.p_memsz);
        } else if (part.p_type == PT_GNU_EH_FRAME) {
            table = reinterpret_cast<const std::uint8_t*>(at);
        }
    }
    if (!holds) return 0;
    code_found(begin, end, info->dlpi_addr, info->dlpi_name);
    found->search_table = table;
    return 1;
}

// `pc` is a return address: the call lies before it, and may be a function's last instruction.
[[gnu::noinline]] frame_row look_up(std::uintptr_t pc) {
    wanted found{pc - 1, nullptr};
    dl_iterate_phdr(visit, &found);
    if (found.search_table == nullptr) return {};
    frame_row row = find_row(pc - 1, found.search_table);
    // The kernel enters a signal's return function at its first byte: nothing was called before it.
    if (row.kind == frame_row::unknown) {
        const frame_row entry = find_row(pc, found.search_table);
        if (entry.kind == frame_row::signal_frame) row = entry;
    }
    return row;
}

frame_row row_of(std::uintptr_t pc) {
    remembered* table = rows.load(std::memory_order_acquire);
    if (table == nullptr) {
        auto* const made = static_cast<remembered*>(pages(sizeof(remembered) * table_size));
        if (made == nullptr) return look_up(pc);
        if (rows.compare_exchange_strong(table, made)) table = made;
        else munmap(made, sizeof(remembered) * table_size);
    }
    const std::uint64_t forgotten = times_forgotten.load(std::memory_order_acquire);    // before anything is looked up
    const std::uint64_t hash = pc * 0x9e3779b97f4a7c15U;
    for (std::size_t probe = 0; probe < 8; ++probe) {
        remembered& entry = table[((hash >> 48) + probe) % table_size];
        const std::uint64_t key = entry.key.load(std::memory_order_relaxed);
        const std::uint64_t row = entry.row.load(std::memory_order_relaxed);
        if (key == key_of(pc, row, forgotten)) return std::bit_cast<frame_row>(row);
        if ((key | row) != 0) continue;
        const frame_row found = look_up(pc);
        const auto bits = std::bit_cast<std::uint64_t>(found);
        entry.row.store(bits, std::memory_order_relaxed);
        entry.key.store(key_of(pc, bits, forgotten), std::memory_order_relaxed);
        return found;
    }
    return look_up(pc);
}

// How far up a single frame may reach. A larger step is a sign of code that is described wrongly.
constexpr std::uintptr_t largest_frame = std::uintptr_t{64} << 20;

enum class stepped : std::uint8_t { to_caller, ended, failed };

// From `here` to its caller.
stepped step_out(call_stack::step& here, frame_start& from) {
    const frame_row row = row_of(from.pc);
    std::uintptr_t cfa = 0;
    here.plain = false;
    here.next_fp_at = -1;
    here.uses_fp = row.kind == frame_row::from_fp || row.kind == frame_row::deref_fp || row.saved == frame_row::at_fp;
    switch (row.kind) {
        case frame_row::from_sp: cfa = from.sp + static_cast<std::uintptr_t>(std::intptr_t{row.offset}); break;
        case frame_row::from_fp: cfa = from.fp + static_cast<std::uintptr_t>(std::intptr_t{row.offset}); break;
        case frame_row::deref_fp: {
            const std::uintptr_t at = from.fp + static_cast<std::uintptr_t>(std::intptr_t{row.offset});
            if (at < from.sp || at - from.sp > largest_frame || at % 8 != 0) return stepped::failed;
            cfa = word_at(at);
            break;
        }
        case frame_row::signal_frame:
            // ucontext_t lies at the stack pointer: general registers from byte 40, of which 10 is the frame
            // pointer, 15 the stack pointer, 16 the instruction that was interrupted (whose next one stands for a
            // return address).
            from.fp = word_at(from.sp + 40 + std::uintptr_t{10} * 8);
            from.pc = word_at(from.sp + 40 + std::uintptr_t{16} * 8) + 1;
            from.sp = word_at(from.sp + 40 + std::uintptr_t{15} * 8);
            return stepped::to_caller;
        case frame_row::unknown:
        case frame_row::outermost: return stepped::ended;
    }
    if (cfa <= from.sp || cfa - from.sp > largest_frame || cfa % 8 != 0) return stepped::failed;
    here.plain = row.kind != frame_row::deref_fp;
    if (row.saved != frame_row::same) {
        const std::uintptr_t base = row.saved == frame_row::at_cfa ? cfa : from.fp;
        const std::uintptr_t at = base + static_cast<std::uintptr_t>(std::intptr_t{row.saved_offset});
        if (at < from.sp || at >= cfa) return stepped::failed;
        here.next_fp_at = static_cast<std::int32_t>(at - from.sp);
        from.fp = word_at(at);
    }
    from.pc = word_at(cfa - 8);
    from.sp = cfa;
    return stepped::to_caller;
}

// Puts the first `count` of the fresh steps before the step `inner`, and counts their hashes.
std::uint64_t put_before(call_stack& stack, std::size_t inner, std::size_t count) {
    std::uint64_t hash = inner < most_frames ? stack.steps[inner].hash : 0;
    bool fp_matters = inner < most_frames && stack.steps[inner].fp_matters;
    while (count > 0) {
        call_stack::step& to = stack.steps[--inner];
        to = stack.fresh[--count];
        to.hash = hash = hash_of(to.pc, hash);
        to.fp_matters = fp_matters = to.uses_fp || (to.next_fp_at < 0 && fp_matters);
    }
    stack.depth = most_frames - inner;
    return hash;
}

}    // namespace

std::uint64_t unwind(frame_start from, call_stack& stack) {
    std::size_t count = 0;
    std::size_t old = stack.first();
    std::size_t checked = 0;
    call_stack::end_t end = call_stack::end_t::unsure;
    while (count < most_frames && from.pc != 0) {
        while (old < most_frames && stack.steps[old].sp < from.sp) ++old;
        if (old < most_frames && old >= checked && resumes(stack, old, from, count) && unchanged(stack, old, checked)) {
            return put_before(stack, old, count);
        }
        call_stack::step& here = stack.fresh[count++];
        here.pc = from.pc;
        here.sp = from.sp;
        here.fp = from.fp;
        const stepped next = step_out(here, from);
        if (next == stepped::ended) end = call_stack::end_t::outermost;
        else if (next == stepped::to_caller && count == most_frames) end = call_stack::end_t::cut_off;
        if (next != stepped::to_caller) break;
    }
    const std::uint64_t hash = put_before(stack, most_frames, count);
    stack.end = end;
    return hash;
}

void forget_code() {
    times_forgotten.fetch_add(1);
    remembered* const table = rows.load(std::memory_order_acquire);
    if (table != nullptr) madvise(table, sizeof(remembered) * table_size, MADV_DONTNEED);    // zeros again, one page at a time
}

}    // namespace headroom::profile
