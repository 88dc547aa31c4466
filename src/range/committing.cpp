// How a range fills: how much is committed at a time under each policy, and how memory is taken back from its end.
#include <algorithm>
#include <chrono>
#include <thread>

#include "range/cache.hpp"
#include "range/prefaulter.hpp"
#include "range/range_calls.hpp"
#include "range/statistics.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

using policy_kind = commit_policy::kind;

// Committing warm memory is cheap, so larger steps stall nobody.
constexpr std::size_t largest_warm_step = std::size_t{1} << 20;

// Whether the memory of what is committed is provided now or when it is touched.
enum class provision { now, at_first_touch };

// Makes [committed, to) the owner's and, with provision::now, provides its memory where it is not warm.
std::error_code commit_part(range* control, std::size_t to, provision how) noexcept {
    const std::size_t from = committed_of(control);
    if (to > control->accessible) {
        if (const std::error_code error = commit(control->part(control->accessible, to))) return error;
        control->accessible = to;
    }
    clear_stale(control, from, to);
    const std::size_t memory = control->memory();
    const std::size_t cold = std::max(from, std::min(memory, to));
    const std::size_t page = page_size();
    if (how == provision::now && cold < to) {
        const std::error_code error = prefault(control->part(cold, to));
        if (error == std::errc::not_enough_memory) {
            if (!decommit(control->part(from, control->accessible))) control->accessible = from;
            control->set_memory(std::min(memory, from));
            control->provided = std::min(control->provided, from);
            control->stale = std::min(control->stale, from);
            count_warm_in_use(control, from);
            return error;
        }
        // Any other refusal (an older kernel, say): memory arrives at first touch.
        if (!error) count_faults_avoided((to - cold) / page);
    }
    if (cold > from) count_faults_avoided((cold - from) / page);
    if (how == provision::now && control->provided >= from) control->provided = std::max(control->provided, to);
    if (to > memory) control->set_memory(to);
    set_committed(control, to);
    count_warm_in_use(control, to);
    return {};
}

// Commits up to `generous`, or where that is refused up to `needed`; between tries gives back what is kept warm.
std::error_code commit_or_less(range* control, std::size_t generous, std::size_t needed, provision how) noexcept {
    // (Where nothing is asked of the system, there is no time to be taken.)
    if (generous <= control->accessible && (how == provision::at_first_touch || generous <= control->memory()))
        return commit_part(control, generous, how);
    const commit_clock clock;
    std::error_code error = commit_part(control, generous, how);
    if (!error) return {};
    give_back_unused();
    error = commit_part(control, generous, how);
    if (error && needed < generous) error = commit_part(control, needed, how);
    return error;
}

bool has_huge_pages(const range* control) noexcept {
    const policy_kind kind = control->policy.which();
    return (kind == policy_kind::huge_pages || kind == policy_kind::balanced) && huge_page_size() != 0;
}

std::size_t step_of(const range* control, std::size_t committed, bool past_start) noexcept {
    const commit_policy& policy = control->policy;
    const std::size_t fraction = policy.fraction() == 0 ? 0 : committed / policy.fraction();
    const std::size_t most = std::max(policy.min_step(), policy.max_step());
    std::size_t step = std::clamp(fraction, policy.min_step(), most);
    if (policy.which() == policy_kind::balanced && past_start) {
        step = std::max(step, std::min(committed / 16, policy.large_step()));
    }
    const std::size_t memory = control->memory();
    if (memory > committed) {
        // Rounded down: a sixteenth is a promise; and so is, under the balanced policy, what goes unused while little is used.
        std::size_t warm = std::min({memory - committed, committed / 16, largest_warm_step});
        if (policy.which() == policy_kind::balanced && !past_start) warm = std::min(warm, most);
        step = std::max(step, warm / page_size() * page_size());
    }
    return round_up(std::max<std::size_t>(step, 1), page_size());
}

void advise_huge_once(range* control) noexcept {
    if (control->huge_advised) return;
    control->huge_advised = true;
    const std::size_t from = round_up(std::max(committed_of(control), control->policy.from()), granule);
    if (from < control->size()) (void)advise_huge(control->part(from, control->size()));
}

// The helper is at the batch that its writer waits for. Instead of waiting the writer provides one that the helper will come
// to: not the very next, at which both would then be. False when that is past what is wanted.
bool help_ahead(range* control, std::size_t ready, std::size_t ahead) noexcept {
    const std::size_t from = ready / granule * granule + 2 * granule;
    const std::size_t to = from + granule;
    if (to > std::min(ahead, committed_of(control)) || to <= control->helped) return false;
    control->helped = to;
    return !prefault(control->part(from, to));    // a refusal is the helper's to meet
}

// Under prefault_ahead: what the helper has provided is handed out a batch at a time, so that it keeps being told.
std::size_t extend_ahead(range* control, std::size_t needed, std::error_code& error) noexcept {
    const std::size_t reserved = control->size();
    const std::size_t ahead = std::min(reserved, round_up(needed, granule) + control->policy.ahead());
    if (control->ready.load(std::memory_order_relaxed) == 0) {
        const without_helper pause(control);
        advise_huge_once(control);
        control->ready.store(committed_of(control), std::memory_order_release);
    }
    for (unsigned tries = 0;; ++tries) {
        const std::size_t ready = control->ready.load(std::memory_order_acquire);
        if (ready >= needed) {
            ask_ahead(control, ahead);
            return control->handed = std::min(ready, round_up(needed, granule));
        }
        if (control->batch.try_lock()) {
            // Caught up, and nothing in hand: provide one batch here. (The helper may have been faster after all.)
            if (control->ready.load(std::memory_order_relaxed) < needed) {
                error = provide(control, std::min(reserved, round_up(needed, granule)));
                if (error) error = provide(control, round_up(needed, page_size()));
            }
            control->batch.unlock();
            if (error) return 0;
            continue;
        }
        if (tries == 0 && help_ahead(control, ready, ahead)) continue;
        if (tries < 100) std::this_thread::yield();
        else std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

}    // namespace

std::error_code provide(range* control, std::size_t to) noexcept {
    const commit_clock clock;
    const std::size_t from = committed_of(control);
    if (to > from) {
        // Access is granted far ahead in one call: each such call would hold up the other thread's page faults.
        const std::size_t wanted = std::min(control->wanted.load(std::memory_order_relaxed), control->size());
        std::size_t further = std::max(to, wanted);
        if (further > control->accessible) {
            const std::size_t accessible = control->accessible;
            std::error_code error = commit(control->part(accessible, further));
            if (error && further > to) {
                further = to;
                error = to > accessible ? commit(control->part(accessible, to)) : std::error_code{};
            }
            if (error) return error;
            control->accessible = std::max(accessible, further);
        }
        clear_stale(control, from, further);
        set_committed(control, further);
    }
    const std::size_t ready = control->ready.load(std::memory_order_relaxed);
    if (to > ready) {
        const std::error_code error = prefault(control->part(ready, to));
        if (error == std::errc::not_enough_memory) return error;
        if (!error) count_faults_avoided((to - ready) / page_size());
        control->set_memory(std::max(control->memory(), to));
        control->ready.store(to, std::memory_order_release);
    }
    return {};
}

std::size_t extend(range* control, std::size_t needed, failure& why) noexcept {
    why = {};
    const commit_policy& policy = control->policy;
    const policy_kind kind = policy.which();
    const bool past_start = needed > policy.from();
    // From there on the helper may be at work on this range: nothing is read before it is paused.
    if (kind == policy_kind::prefault_ahead && past_start) {
        std::error_code error;
        const std::size_t committed = extend_ahead(control, needed, error);
        why = failure_of(error);
        return committed;
    }
    const std::size_t committed = committed_of(control);
    if (needed <= committed) return committed;
    const std::size_t least = round_up(needed, page_size());
    std::size_t target = least;
    if (past_start && needed > control->memory() && has_huge_pages(control)) {
        advise_huge_once(control);
        target = std::min(control->size(), round_up(needed, granule));
    } else if (kind != policy_kind::page_by_page) {
        target = std::max(least, committed + step_of(control, committed, past_start));
        if (!past_start) target = std::min(target, std::max(least, policy.from()));      // where another step size begins
        if (least <= control->memory()) target = std::min(target, control->memory());    // what is warm first
        target = std::min(target, control->size());
    }
    why = failure_of(
        commit_or_less(control, target, least, kind == policy_kind::page_by_page ? provision::at_first_touch : provision::now));
    if (why) return 0;
    constexpr std::size_t one_element = 4096;    // at most, to count as one
    if (needed - committed <= one_element) control->appended += committed_of(control) - committed;
    if (kind == policy_kind::page_by_page) control->provided = std::max(control->provided, committed_of(control));
    return committed_of(control);
}

std::size_t extend_exactly(range* control, std::size_t needed, failure& why) noexcept {
    why = {};
    const without_helper pause(control);    // which must not commit at the same time
    const std::size_t least = round_up(needed, page_size());
    if (least <= committed_of(control)) {
        if (control->handed != 0) control->handed = committed_of(control);
        return committed_of(control);
    }
    if (least > control->policy.from() && has_huge_pages(control)) advise_huge_once(control);
    why = failure_of(commit_or_less(control, least, least, provision::at_first_touch));
    if (why) return 0;
    if (control->handed != 0) control->handed = committed_of(control);
    return committed_of(control);
}

void cut_memory(range* control, std::size_t kept) noexcept {
    const std::size_t memory = control->memory();
    if (memory <= kept) return;
    const std::size_t committed = committed_of(control);
    if (control->held == holding::open) {
        if (discard(control->part(kept, memory))) return;
    } else {
        if (decommit(control->part(kept, std::max({memory, committed, control->accessible})))) return;
        control->accessible = std::min(control->accessible, kept);
        control->committed.store(std::min(committed, kept), std::memory_order_release);    // of a dead range, perhaps
    }
    control->set_memory(kept);
    control->provided = std::min(control->provided, kept);
    control->stale = std::min(control->stale, kept);
}

std::size_t shrink(range* control, std::size_t kept) noexcept {
    kept = std::min(round_up(kept, page_size()), control->size());
    const without_helper pause(control);
    control->wanted.store(0);
    control->set_memory(std::max(control->memory(), control->held == holding::open ? control->size() : committed_of(control)));
    cut_memory(control, kept);
    count_warm_in_use(control, committed_of(control));
    report(control, committed_of(control));
    if (control->ready.load(std::memory_order_relaxed) > kept) control->ready.store(kept, std::memory_order_release);
    if (control->handed != 0) control->handed = committed_of(control);
    return committed_of(control);
}

}}}    // namespace headroom::detail
