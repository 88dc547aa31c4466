// Extent of a range: implements extent.hpp.
#include "range/extent.hpp"

#include <algorithm>
#include <cstring>

#include "range/account.hpp"
#include "range/counters.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

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
    const std::size_t memory = control->memory();
    std::size_t there = std::max(from, std::min(memory, to));    // has memory up to here
    // Not for a single page: a range's first page arrives sooner at its first touch, above all a process's first.
    const std::size_t ahead = std::max({max_populate_ahead, from / 16, control->policy.max_step()});
    const std::size_t populated = to - from > ahead ? whole_pages(from + ahead) : to;
    if (how == populate_when::now && there < populated && populated > page_size()) {
        const std::error_code error = prefault(control->part(there, populated));
        if (error == out_of_memory()) {
            control->set_memory(std::max(memory, to));    // some of it may be populated
            (void)release_memory_after(control, from);
            update_account(control);
            return error;
        }
        // Any other refusal (of an older kernel, say): memory arrives at first touch.
        if (!error) there = populated;
    }
    if (there > from) counts.faults_avoided.fetch_add((there - from) / page_size(), std::memory_order_relaxed);
    range_extent& extent = control->extent;
    if (how == populate_when::now && extent.populated >= from) extent.populated = std::max(extent.populated, populated);
    if (to > memory) control->set_memory(to);
    set_committed(control, to);
    update_account(control);
    return {};
}

bool release_memory_after(range* control, std::size_t kept) noexcept {
    kept &= ~(page_size() - 1);
    range_extent& extent = control->extent;
    const bool open = control->creation.held == holding::open;
    const std::size_t memory = control->memory();
    const std::size_t committed = committed_of(control);
    const std::size_t accessible = extent.accessible;
    const std::size_t end = open ? memory : std::max({memory, committed, accessible});
    if (end <= kept) return true;
    // Before the system call, which may release pages and then fail.
    control->set_memory(std::min(memory, kept));
    extent.populated = std::min(extent.populated, kept);
    if (open) {
        control->cache.unfit = static_cast<bool>(discard(control->part(kept, end)));
        return !control->cache.unfit;
    }
    // Before the call too: the helper comes here, and the owner may fork meanwhile. The child sees the pages as they are then.
    extent.accessible = std::min(accessible, kept);
    if (decommit(control->part(kept, end))) {
        extent.accessible = accessible;
        control->cache.unfit = true;
        if (hardened()) control->set_memory(memory);    // is zeroed before it is committed
        return false;
    }
    control->protection.protected_bytes = std::min(control->protection.protected_bytes, kept);
    if (kept < committed) extent.committed.store(kept, std::memory_order_release);
    return true;
}

void advise_huge_once(range* control) noexcept {
    if (control->protection.huge_advised) return;
    control->protection.huge_advised = true;
    const std::size_t from = huge_page_after(control, std::max(committed_of(control), control->policy.from()));
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
