// Extent of a range: implements extent.hpp. Every change of `accessible`, `memory`, `populated` and `in_use` is here.
#include "range/extent.hpp"

#include <algorithm>
#include <cstring>

#include "range/counters.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

bool exceeds_memory(std::size_t bytes) noexcept { return static_cast<bool>(admit(bytes, bytes)); }

std::error_code make_accessible(range* control, std::size_t to) noexcept {
    const std::size_t accessible = control->extent.accessible;
    if (to <= accessible) return {};
    const std::size_t there = std::max(accessible, control->memory());
    if (const std::error_code error = admit(to > there ? to - there : 0, to)) return error;
    const page_range more = control->part(accessible, to);
    const std::error_code error = commit(more);
    if (error) {
        // Several mappings (after advice for a part, say): the first may have become accessible. It would count as memory in use, and
        // stray writes to it would not fault.
        (void)protect(more, access::none);
    } else {
        control->extent.accessible = to;
    }
    return error;
}

std::error_code commit_up_to(range* control, std::size_t to, populate_when how) noexcept {
    const std::size_t from = committed_of(control);
    if (const std::error_code error = make_accessible(control, to)) return error;
    zero_old_contents(control, from, to);
    range_extent& extent = control->extent;
    const std::size_t memory = control->memory();
    std::size_t there = std::max(from, std::min(extent.populated, to));    // has memory up to here
    // Not for a single page: a range's first page arrives sooner at its first touch, above all a process's first.
    const std::size_t ahead = std::max({max_populate_ahead, from / 16, control->creation.policy.max_step()});
    const std::size_t populated = to - from > ahead ? whole_pages(from + ahead) : to;
    if (how == populate_when::now && there < populated && populated > page_size()) {
        const std::error_code error = prefault(control->part(there, populated));
        if (error == out_of_memory()) {
            control->set_memory(std::max(memory, to));    // some of it may be populated
            release_memory_after(control, from);
            update_warm_unused(control, from);
            update_bytes_in_use(control);
            return error;
        }
        // Any other refusal (of an older kernel, say): memory arrives at first touch.
        if (!error) there = populated;
    }
    if (there > from) counts.faults_avoided.fetch_add((there - from) / page_size(), std::memory_order_relaxed);
    if (how == populate_when::now && extent.populated >= from) extent.populated = std::max(extent.populated, populated);
    if (to > memory) control->set_memory(to);
    set_committed(control, to);
    update_warm_unused(control, to);
    update_bytes_in_use(control);
    return {};
}

void update_bytes_in_use(range* control) noexcept {
    const std::size_t memory = control->memory();
    const std::size_t more = memory - control->extent.in_use;    // wraps if it is less, and so does the sum
    if (more == 0) return;
    library_copy& home = *control->creation.home;
    // In this order, because another thread may fork in between: the child then counts too much, but never below zero.
    if (memory < control->extent.in_use) {
        control->extent.in_use = memory;
        home.bytes_in_use.fetch_add(more, std::memory_order_release);
        return;
    }
    const std::size_t all = home.bytes_in_use.fetch_add(more, std::memory_order_relaxed) + more;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    control->extent.in_use = memory;
    std::size_t most = home.peak_in_use.load(std::memory_order_relaxed);
    while (most < all && !home.peak_in_use.compare_exchange_weak(most, all, std::memory_order_relaxed)) {}
}

void remove_from_in_use(range* control) noexcept {
    const std::size_t less = control->extent.in_use;
    control->extent.in_use = 0;
    control->creation.home->bytes_in_use.fetch_sub(less, std::memory_order_relaxed);
}

void update_warm_unused(range* control, std::size_t committed) noexcept {
    const std::size_t memory = control->memory();
    const std::size_t left = std::min(control->cache.warm, memory > committed ? memory - committed : 0);
    if (left == control->cache.warm) return;
    // In this order: a child forked in between counts too much; in the other order it would subtract twice.
    const std::size_t used = control->cache.warm - left;
    control->cache.warm = left;
    control->creation.home->warm_unused_bytes.fetch_sub(used, std::memory_order_release);
}

void release_memory_after(range* control, std::size_t kept) noexcept {
    kept &= ~(page_size() - 1);
    range_extent& extent = control->extent;
    // Includes pages that were charged and not committed.
    const std::size_t memory = std::max(control->memory(), control->creation.held == holding::open ? 0 : extent.accessible);
    if (memory <= kept) return;
    const std::size_t committed = committed_of(control);
    // Before the system call, which may release pages and then fail.
    extent.populated = std::min(extent.populated, kept);
    if (control->creation.held == holding::open) {
        if (discard(control->part(kept, memory))) return;
    } else {
        // Before the call too: the helper comes here, and the owner may fork meanwhile. The child sees the pages as they are then.
        const std::size_t accessible = extent.accessible;
        extent.accessible = std::min(accessible, kept);
        if (decommit(control->part(kept, std::max({memory, committed, accessible})))) {
            extent.accessible = accessible;
            return;
        }
        control->protection.protected_bytes = std::min(control->protection.protected_bytes, kept);
        extent.committed.store(std::min(committed, kept), std::memory_order_release);    // also of a released range
    }
    control->set_memory(std::min(control->memory(), kept));
}

void advise_huge_once(range* control) noexcept {
    if (control->protection.huge_advised) return;
    control->protection.huge_advised = true;
    const std::size_t from = huge_page_after(control, std::max(committed_of(control), control->creation.policy.from()));
    if (from < control->size()) (void)advise_huge(control->part(from, control->size()));
}

void zero_old_contents(range* control, std::size_t from, std::size_t to) noexcept {
    to = std::min(to, control->memory());
    if (from < to && hardened()) std::memset(control->start() + from, 0, to - from);
}

void report_to_heap_profiler(const range* control, std::size_t bytes) noexcept {
    if (control->creation.held != holding::open) tell_heap_profiler(control->start(), bytes);
}

void report_to_leak_checker(const range* control, bool wanted) noexcept {
    if (control->creation.held != holding::open) set_leak_root(control->part(0, control->size()), wanted);
}

}}}    // namespace headroom::detail
