// SPDX-License-Identifier: MIT
// Extent of a range: implements extent.hpp.
#include "range/extent.hpp"

#include <algorithm>
#include <cstring>

#include "range/account.hpp"
#include "range/counters.hpp"
#include "range/process_policy.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Writes to each page what it has, and so gives it memory.
void touch_pages(page_range range) noexcept {
    for (std::size_t at = 0; at < range.bytes; at += page_size()) {
        volatile std::byte* const byte = range.data + at;
        *byte = *byte;
    }
}

}    // namespace

std::error_code make_accessible(locked_range control, std::size_t to) noexcept {
    range_extent& extent = control->extent;
    const std::size_t accessible = extent.accessible();
    if (to <= accessible) return {};
    const std::size_t there = std::max(accessible, extent.memory());
    const std::size_t added = to > there ? to - there : 0;
    if (const std::error_code error = admit(added, to, true)) return error;
    const page_range more = control->part(accessible, to);
    const std::error_code error = commit(more);
    if (error) {
        // Several mappings (after advice for a part, say): the first may have become accessible. It would count as memory in use, and
        // stray writes to it would not fault.
        (void)protect(more, access::none);
        settle_admitted(added);
    } else {
        extent.accessible_ = to;
        if (memory_is_guarded()) {
            extent.admitted_ += added;
            extent.admitted_period_ = admission_period.load(std::memory_order_relaxed);
        }
    }
    return error;
}

std::error_code commit_up_to(locked_range control, std::size_t to, populate_when how) noexcept {
    range_extent& extent = control->extent;
    const std::size_t from = extent.committed();
    if (const std::error_code error = make_accessible(control, to)) return error;
    zero_old_contents(control, from, to);
    std::size_t there = std::max(from, std::min(extent.memory(), to));    // has memory up to here
    // Not for a single page: a range's first page arrives sooner at its first touch, above all a process's first.
    const std::size_t ahead = std::max({max_populate_ahead, from / 16, control->policy.max_step()});
    const std::size_t populated = to - from > ahead && how != populate_when::by_owner ? whole_pages(from + ahead) : to;
    if ((how == populate_when::now || how == populate_when::by_touch) && there < populated && populated > page_size()) {
        std::error_code error = prefault(control->part(there, populated));
        if (error && error != out_of_memory() && how == populate_when::by_touch) {
            touch_pages(control->part(there, populated));
            error.clear();
        }
        if (error == out_of_memory()) {
            extent.assume_memory(to);    // some of it may be populated
            (void)release_memory_after(control, from);
            update_account(control);
            return error;
        }
        // Any other refusal (of an older kernel, say): memory arrives at first touch.
        if (!error) {
            settle_range(control, populated - there);
            there = populated;
        }
    }
    if (there > from) counts.faults_avoided.fetch_add((there - from) / page_size(), std::memory_order_relaxed);
    if (how != populate_when::at_first_touch && extent.populated_ >= from)
        extent.populated_ = std::max(extent.populated_, populated);
    extent.assume_memory(to);
    extent.committed_.store(to, std::memory_order_release);
    report_to_heap_profiler(control.get(), to);
    update_account(control);
    return {};
}

bool release_memory_after(locked_range control, std::size_t kept) noexcept {
    kept &= ~(page_size() - 1);
    range_extent& extent = control->extent;
    const bool premapped = control->creation.held == holding::open;
    const std::size_t memory = extent.memory();
    const std::size_t committed = extent.committed();
    const std::size_t accessible = extent.accessible();
    const std::size_t end = premapped ? memory : std::max({memory, committed, accessible});
    if (end <= kept) return true;
    // Before the system call, which may release pages and then fail.
    extent.memory_.store(std::min(memory, kept), std::memory_order_relaxed);
    const std::size_t populated = extent.populated_;
    extent.populated_ = std::min(populated, kept);
    if (premapped) {
        control->cache.set_unfit(static_cast<bool>(discard(control->part(kept, end))));
        return !control->cache.is_unfit();
    }
    // Memory past the populated part may never have been touched.
    if (const std::size_t written = std::max(kept, populated); accessible > written) settle_range(control, accessible - written);
    // Before the call too: the helper comes here, and the owner may fork meanwhile. The child sees the pages as they are then.
    extent.accessible_ = std::min(accessible, kept);
    if (decommit(control->part(kept, end))) {
        extent.accessible_ = accessible;
        control->cache.set_unfit(true);
        if (hardened()) extent.memory_.store(memory, std::memory_order_relaxed);    // is zeroed before it is committed
        return false;
    }
    control->protection.limit_to(kept);
    if (kept < committed) extent.committed_.store(kept, std::memory_order_release);
    return true;
}

void settle_range(locked_range control, std::size_t bytes) noexcept {
    range_extent& extent = control->extent;
    const std::size_t settled = std::min(extent.admitted_, bytes);
    if (settled == 0) return;
    extent.admitted_ -= settled;
    const std::uint32_t periods = admission_period.load(std::memory_order_relaxed) - extent.admitted_period_;
    if (periods < 2) settle_admitted(settled);    // later they do not count any more
}

bool protect_memory(locked_range control) noexcept {
    range_extent& extent = control->extent;
    if (extent.accessible_ != 0 && protect(control->part(0, extent.accessible_), access::none)) return false;
    extent.accessible_ = 0;
    return true;
}

constinit std::atomic<std::size_t> ranges_with_advice{0};

void set_huge_until(locked_range control, std::size_t bytes) noexcept {
    const std::size_t before = control->protection.huge_until();
    if ((before == 0) != (bytes == 0)) ranges_with_advice.fetch_add(before == 0 ? 1 : SIZE_MAX, std::memory_order_relaxed);
    control->protection.set_huge_until(bytes);
}

void advise_huge_rest(locked_range control) noexcept {
    const std::size_t advised = control->protection.huge_until();
    if (advised >= control->size() || !huge_pages_allowed()) return;
    const std::size_t from =
        huge_page_after(control.get(), std::max({control->extent.committed(), control->policy.from(), advised}));
    set_huge_until(control, control->size());
    if (from < control->size()) (void)advise_huge(control->part(from, control->size()));
}

huge_part advise_huge_within(locked_range control, std::size_t from, std::size_t to) noexcept {
    const std::size_t begin = huge_page_after(control.get(), from);
    if (to < begin + huge_page_alignment) return {from, from};
    const std::size_t end = huge_page_after(control.get(), to - huge_page_alignment + 1);
    // Asks again where it asked before: the range may have grown without huge pages in between.
    set_huge_until(control, std::max(control->protection.huge_until(), end));
    (void)advise_huge(control->part(begin, end));
    return {begin, end};
}

void zero_old_contents(locked_range control, std::size_t from, std::size_t to) noexcept {
    to = std::min(to, control->extent.memory());
    if (from < to && hardened()) std::memset(control->start() + from, 0, to - from);
}

void report_to_heap_profiler(const range* control, std::size_t bytes) noexcept {
    if (control->creation.held != holding::open) tell_heap_profiler(control->start(), bytes);
}

void report_to_leak_checker(const range* control, bool wanted) noexcept {
    if (control->creation.held != holding::open) set_leak_root(control->part(0, control->size()), wanted);
}

}}}    // namespace headroom::detail
