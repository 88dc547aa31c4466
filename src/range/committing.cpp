// SPDX-License-Identifier: MIT
// Implements detail/range/committing.hpp: how much is committed at a time under each policy.
#include <headroom/detail/range/committing.hpp>

#include <algorithm>
#include <cstdint>

#include "range/account.hpp"
#include "range/cache.hpp"
#include "range/range.hpp"
#include "range/counters.hpp"
#include "range/process_policy.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

using policy_kind = commit_policy::kind;

// Committing warm memory is cheap, so larger steps delay no append.
constexpr std::size_t max_warm_step = std::size_t{1} << 20;

// Makes a sixteenth more accessible than `target`, without memory, from 4 MiB on, 64 MiB at most: each call that changes mappings stops the
// page faults of all threads. Not with overcommit off or a minimum that stays available, where it takes from what others may have;
// RLIMIT_DATA counts it, too.
void make_accessible_ahead(locked_range control, std::size_t target) noexcept {
    constexpr std::size_t from = std::size_t{4} << 20, most = std::size_t{64} << 20;
    if (target < from || target <= control->extent.accessible() || charges_count() || memory_is_guarded() ||
        warm_memory_is_protected())
        return;
    const std::size_t ahead = std::min({target / 16, most, largest_step()});
    (void)make_accessible(control, std::min(control->size(), whole_pages(target + ahead)));
}

// Commits up to `target`, after idle memory has made room. If refused, releases all idle memory and commits up to `needed`.
std::error_code commit_best_effort(locked_range control, std::size_t target, std::size_t needed, populate_when how) noexcept {
    // Not timed if it makes no system call.
    if (target <= control->extent.accessible() && (how == populate_when::at_first_touch || target <= control->extent.memory()))
        return commit_up_to(control, target, how);
    const commit_clock clock;
    unmap_all_ranges(make_room_for(control, target));
    if (how == populate_when::now) make_accessible_ahead(control, target);
    std::error_code error = commit_up_to(control, target, how);
    if (error) {
        release_unused();
        error = commit_up_to(control, needed, how);
    }
    return error;
}

// True if commits use huge pages: the policy has them (the helper of prefault_ahead requests its own), and system and process allow them.
bool commits_huge_pages(locked_range control) noexcept {
    const policy_kind kind = control->policy.which();
    return (kind == policy_kind::huge_pages || kind == policy_kind::balanced) && huge_page_size() != 0 && huge_pages_allowed() &&
           largest_step() >= huge_page_alignment;
}

// Returns the bytes to commit at a time under the policy.
std::size_t commit_step(locked_range control, std::size_t committed, bool past_start) noexcept {
    const commit_policy& policy = control->policy;
    const std::size_t fraction = policy.fraction() == 0 ? 0 : committed / policy.fraction();
    const std::size_t most = std::max(policy.min_step(), policy.max_step());
    std::size_t step = std::clamp(fraction, policy.min_step(), most);
    if (policy.which() == policy_kind::balanced && past_start) {
        step = std::max(step, std::min(committed / 16, policy.large_step()));
    }
    const std::size_t memory = control->extent.memory();
    if (memory > committed) {
        // Rounded down, because a sixteenth is promised. The balanced policy also promises a limit of unused bytes while little is used.
        std::size_t warm = std::min(std::min(memory - committed, committed / 16), max_warm_step);
        if (policy.which() == policy_kind::balanced && !past_start) warm = std::min(warm, most);
        step = std::max(step, warm & ~(page_size() - 1));
    }
    return whole_pages(std::clamp<std::size_t>(step, 1, std::min(control->size(), std::max(largest_step(), page_size()))));
}

// Returns how far the policy commits for `least` bytes.
std::size_t commit_target(locked_range control, std::size_t least, bool past_start) noexcept {
    const commit_policy& policy = control->policy;
    std::size_t huge = SIZE_MAX;                                           // bytes from which huge pages are used
    const std::size_t start = std::min(policy.from(), control->size());    // of another step size
    if (past_start && commits_huge_pages(control))
        huge = policy.which() == policy_kind::balanced ? huge_page_after(control.get(), start) : whole_pages(start);
    const std::size_t memory = control->extent.memory();
    std::size_t target = least;
    if (least > memory && least > huge) {
        advise_huge_rest(control);
        target = huge_page_after(control.get(), least);
    } else if (policy.which() != policy_kind::page_by_page) {
        const std::size_t committed = control->extent.committed();
        target = committed + commit_step(control, committed, past_start);
        if (!past_start) target = std::min(target, whole_pages(start));
        if (least <= huge) target = std::min(target, huge);
        if (least <= memory) target = std::min(target, memory);    // warm memory first
        target = std::max(least, target);
    }
    // charge() said how many bytes the elements need.
    if (least <= control->extent.charged()) target = std::min(target, control->extent.charged());
    return std::min(control->size(), target);
}

// by_policy: as far as the policy says, populated. untouched: as far, populated at first touch. exact: whole pages, at first touch.
enum class commit_kind { by_policy, untouched, exact };

// Commits at least `needed` bytes. Returns the committed bytes in total; if refused, sets `why` and returns 0.
std::size_t commit_to(locked_range control, std::size_t needed, commit_kind kind, failure& why) noexcept {
    const bool exactly = kind == commit_kind::exact;
    const std::size_t committed = control->extent.committed();
    if (needed > committed) {
        const std::size_t least = whole_pages(needed);
        const bool past_start = least > control->policy.from();
        const bool page_by_page = control->policy.which() == policy_kind::page_by_page;
        const bool untouched = kind != commit_kind::by_policy || page_by_page;
        if (exactly && past_start && commits_huge_pages(control)) advise_huge_rest(control);
        why = failure_of(commit_best_effort(control, exactly ? least : commit_target(control, least, past_start), least,
                                            untouched ? populate_when::at_first_touch : populate_when::now));
        if (why) return 0;
    }
    control->prefault.update_given(control->extent.committed());
    return control->extent.committed();
}

}    // namespace

std::size_t commit_to(range* control, std::size_t needed, failure& why) noexcept {
    why = {};
    const commit_policy& policy = control->policy;
    // The helper works by huge pages.
    if (policy.which() == policy_kind::prefault_ahead && needed > policy.from() && largest_step() >= huge_page_alignment)
        return policy_calls::prefault_call(policy)(control, needed, why);
    return commit_to(range_lock(control), needed, commit_kind::by_policy, why);
}

std::size_t commit_exactly(range* control, std::size_t needed, failure& why) noexcept {
    why = {};
    return commit_to(range_lock(control), needed, commit_kind::exact, why);
}

std::size_t commit_unpopulated(range* control, std::size_t needed, failure& why) noexcept {
    why = {};
    return commit_to(range_lock(control), needed, commit_kind::untouched, why);
}

void charge(range* control, std::size_t needed, failure& why) noexcept {
    why = {};
    const range_lock held(control);
    const std::size_t to = whole_pages(needed);
    const std::size_t there = std::max(held->extent.committed(), held->extent.memory());
    huge_part huge{there, there};
    // From half of the bytes on at which the policy has huge pages, since it is known how many there will be.
    if (to > there && to >= held->policy.from() / 2 && commits_huge_pages(held) && huge_page_size() <= huge_page_alignment &&
        !memory_is_guarded())
        huge = advise_huge_within(held, there, to);
    std::error_code error = make_accessible(held, to);
    if (error) {
        release_unused();
        error = make_accessible(held, to);
    }
    why = failure_of(error);
    if (error) return;
    held->extent.set_charged(to);
    if (huge.begin < huge.end) {
        // A huge page is zeroed at its first touch, and is still in the cache when it is written. Steps would gain nothing.
        (void)commit_up_to(held, huge.end, populate_when::by_owner);
    } else if (to > held->extent.committed() && to <= held->extent.memory()) {
        (void)commit_up_to(held, to, populate_when::at_first_touch);
    }
}

}}}    // namespace headroom::detail
