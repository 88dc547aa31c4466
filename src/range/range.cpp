// The calls that containers make: acquire, extend, shrink, relinquish.
#include "range/range.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "range/cache.hpp"
#include "range/quarantine.hpp"
#include "system/platform.hpp"
#include "range/prefaulter.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "range/statistics.hpp"
#include "system/waiting.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// How much of a warm range its next owner gets accessible at once: what the default policy may leave unused.
constexpr std::size_t warm_start = std::size_t{64} << 10;

// Writes past either end of an open range must travel at least this far to do harm.
constexpr std::size_t open_guard = std::size_t{64} << 10;

// Committing warm memory is cheap, so larger steps stall nobody.
constexpr std::size_t largest_warm_step = std::size_t{1} << 20;

page_range part(const range* control, std::size_t from, std::size_t to) noexcept {
    return {control->base + from, to - from};
}

std::size_t committed_of(const range* control) noexcept { return control->committed.load(std::memory_order_relaxed); }
// Of an open range nobody knows how much was touched.
void report(const range* control, std::size_t bytes) noexcept {
    if (control->held != holding::open) report_memory(control->base, bytes);
}
void set_committed(range* control, std::size_t bytes) noexcept {
    control->committed.store(bytes, std::memory_order_relaxed);
    report(control, bytes);
}

// The layout of a mapping: a granule of guard, the range, and guard up to the next granule. Whole granules, so that
// mappings made one after another stay aligned and one system call each is enough.
std::size_t span_of(std::size_t reserved) noexcept { return granule + round_up(reserved + open_guard, granule); }

failure failure_of(const std::error_code& error) noexcept { return {error.value(), &error.category()}; }

// A fresh range, live; null and `error` when refused.
range* make_range(std::size_t reserved, const commit_policy& policy, std::error_code& error) noexcept {
    range* const control = new_control_block();
    if (control == nullptr) {
        error = std::make_error_code(std::errc::not_enough_memory);
        return nullptr;
    }
    holding held = policy.how_held();
    page_range mapping{};
    if (held == holding::open) {
        mapping = reserve(span_of(reserved), granule, error, access::read_write);
        if (!error) {
            std::byte* const base = mapping.data + granule;
            error = guard({base - open_guard, open_guard});
            if (!error) error = guard({base + reserved, open_guard});
            if (error) release_surely(mapping);
        }
        if (error) held = holding::guarded;
    }
    if (held == holding::guarded) mapping = reserve(span_of(reserved), granule, error);
    if (error) {
        free_control_block(control);
        return nullptr;
    }
    control->lock.lock();
    control->base = mapping.data + granule;
    control->reserved = reserved;
    control->label[0] = '\0';
    control->lock.unlock();
    control->mapping = mapping;
    control->policy = policy;
    control->held = held;
    control->allowed = access::read_write;
    control->huge_advised = false;
    control->named = false;
    control->high = 0;
    control->helped = 0;
    control->stale = 0;
    control->ready.store(0);
    control->wanted.store(0);
    set_committed(control, held == holding::open ? reserved : 0);
    if (!enter_granules(control)) {
        release_surely(mapping);
        free_control_block(control);
        error = std::make_error_code(std::errc::not_enough_memory);
        return nullptr;
    }
    const registry_guard guard;
    make_live(control);
    return control;
}

// What an earlier owner left in [from, to), just made accessible, is not for the next one to see.
void clear_stale(range* control, std::size_t from, std::size_t to) noexcept {
    to = std::min(to, control->stale);
    if (from < to && hardened()) std::memset(control->base + from, 0, to - from);
}

// Address space, mappings and memory that nobody uses.
void give_back_unused() noexcept {
    trim_cache();
    end_rest();
    offer_again();
}

// Makes [committed, to) accessible and, with `populate`, provides its memory where it is not warm.
std::error_code commit_part(range* control, std::size_t to, bool populate) noexcept {
    const std::size_t from = committed_of(control);
    if (const std::error_code error = commit(part(control, from, to))) return error;
    clear_stale(control, from, to);
    const std::size_t cold = std::max(from, std::min(control->high, to));
    const std::size_t page = page_size();
    if (populate && cold < to) {
        const std::error_code error = prefault(part(control, cold, to));
        if (error == std::errc::not_enough_memory) {
            (void)decommit(part(control, from, to));
            control->high = std::min(control->high, from);
            control->stale = std::min(control->stale, from);
            return error;
        }
        // Any other refusal (an older kernel, say): memory arrives at first touch.
        if (!error) count_faults_avoided((to - cold) / page);
    }
    count_faults_avoided((cold - from) / page);
    set_committed(control, to);
    control->high = std::max(control->high, to);
    return {};
}

// Commits up to `generous`, or where that is refused up to `needed`; between tries gives back what is kept warm.
std::error_code commit_or_less(range* control, std::size_t generous, std::size_t needed, bool populate) noexcept {
    const commit_clock clock;
    std::error_code error = commit_part(control, generous, populate);
    if (!error) return {};
    give_back_unused();
    error = commit_part(control, generous, populate);
    if (error && needed < generous) error = commit_part(control, needed, populate);
    return error;
}

std::size_t step_of(const range* control, std::size_t committed) noexcept {
    const commit_policy& policy = control->policy;
    const std::size_t fraction = policy.fraction() == 0 ? 0 : committed / policy.fraction();
    std::size_t step = std::clamp(fraction, policy.min_step(), std::max(policy.min_step(), policy.max_step()));
    if (control->high > committed) {
        const std::size_t warm = std::min({control->high - committed, committed / 16, largest_warm_step});
        step = std::max(step, warm / page_size() * page_size());    // rounded down: a sixteenth is a promise
    }
    return round_up(std::max<std::size_t>(step, 1), page_size());
}

void advise_huge_once(range* control) noexcept {
    if (control->huge_advised) return;
    control->huge_advised = true;
    const std::size_t from = round_up(std::max(committed_of(control), control->policy.from()), granule);
    if (from < control->reserved) (void)advise_huge(part(control, from, control->reserved));
}

// The helper is at the batch that its writer waits for. Instead of waiting the writer provides one that the helper will come
// to: not the very next, at which both would then be. False when that is past what is wanted.
bool help_ahead(range* control, std::size_t ready, std::size_t ahead) noexcept {
    const std::size_t from = ready / granule * granule + 2 * granule;
    const std::size_t to = from + granule;
    if (to > std::min(ahead, committed_of(control)) || to <= control->helped) return false;
    control->helped = to;
    return !prefault(part(control, from, to));    // a refusal is the helper's to meet
}

// Under prefault_ahead: what the helper has provided is handed out a batch at a time, so that it keeps being told.
std::size_t extend_ahead(range* control, std::size_t needed, std::error_code& error) noexcept {
    const std::size_t reserved = control->reserved;
    const std::size_t ahead = std::min(reserved, round_up(needed, granule) + control->policy.ahead());
    if (control->ready.load(std::memory_order_relaxed) == 0) {
        const helper_pause pause;
        advise_huge_once(control);
        control->ready.store(committed_of(control), std::memory_order_release);
    }
    for (unsigned tries = 0;; ++tries) {
        const std::size_t ready = control->ready.load(std::memory_order_acquire);
        if (ready >= needed) {
            ask_ahead(control, ahead);
            return std::min(ready, round_up(needed, granule));
        }
        if (const helper_pause pause{std::try_to_lock}) {
            // Caught up, and nothing in hand: provide one batch here. (The helper may have been faster after all.)
            if (control->ready.load(std::memory_order_relaxed) >= needed) continue;
            error = provide(control, std::min(reserved, round_up(needed, granule)));
            if (error) error = provide(control, round_up(needed, page_size()));
            if (error) return 0;
            continue;
        }
        if (tries == 0 && help_ahead(control, ready, ahead)) continue;
        if (tries < 100)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

}  // namespace

std::error_code provide(range* control, std::size_t to) noexcept {
    const commit_clock clock;
    if (to > committed_of(control)) {
        // Access is granted far ahead in one call: each such call would hold up the other thread's page faults.
        const std::size_t wanted = std::min(control->wanted.load(std::memory_order_relaxed), control->reserved);
        const std::size_t further = std::max(to, wanted);
        const std::size_t from = committed_of(control);
        std::error_code error = commit(part(control, from, further));
        if (error && further > to) {
            error = commit(part(control, from, to));
            if (!error) set_committed(control, to);
        } else if (!error) {
            set_committed(control, further);
        }
        if (error) return error;
        clear_stale(control, from, committed_of(control));
    }
    const std::size_t ready = control->ready.load(std::memory_order_relaxed);
    if (to > ready) {
        const std::error_code error = prefault(part(control, ready, to));
        if (error == std::errc::not_enough_memory) return error;
        if (!error) count_faults_avoided((to - ready) / page_size());
        control->high = std::max(control->high, to);
        control->ready.store(to, std::memory_order_release);
    }
    return {};
}

held_range acquire(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                   failure& why) noexcept {
    why = {};
    std::error_code error;
    const std::size_t page = page_size();
    constexpr std::size_t most = SIZE_MAX / 4;
    if (bytes > most) {
        if (exact || floor_bytes > most) {
            why = failure_of(std::make_error_code(std::errc::not_enough_memory));
            return {};
        }
        bytes = most;
    }
    bytes = round_up(std::max<std::size_t>(bytes, 1), page);
    floor_bytes = std::min(bytes, round_up(std::max<std::size_t>(floor_bytes, 1), page));
    range* control = take_from_cache(bytes, policy);
    count_cache(control != nullptr);
    if (control != nullptr) clear_stale(control, 0, committed_of(control));    // given back before anybody asked for more
    if (control == nullptr) {
        control = make_range(bytes, policy, error);
        if (control == nullptr) {
            // What is kept warm may be what stands in the way: address space, mappings or memory.
            give_back_unused();
            control = make_range(bytes, policy, error);
        }
        while (control == nullptr && !exact && bytes > floor_bytes) {
            bytes = std::max(floor_bytes, round_up(bytes / 2, page));
            control = make_range(bytes, policy, error);
        }
    }
    if (control == nullptr) {
        why = failure_of(error);
        return {};
    }
    // (Looking through a range that is readable throughout would take too long.)
    if (control->held != holding::open) look_for_pointers(part(control, 0, control->reserved), true);
    report(control, committed_of(control));
    return {control, control->base, committed_of(control), control->reserved};
}

void relinquish(range* control, std::size_t used) noexcept {
    if (control == nullptr) return;
    const std::size_t page = page_size();
    if (control->held != holding::open) look_for_pointers(part(control, 0, control->reserved), false);
    if (control->policy.which() == commit_policy::kind::prefault_ahead) {
        stop_asking(control);
        control->high = std::max(control->high, control->helped);
        control->helped = 0;
    }
    std::size_t committed = committed_of(control);
    const bool hidden = hardened() || readable_means_in_use();
    bool keep = true;
    if (control->allowed != access::read_write) {
        keep = committed == 0 || !protect(part(control, 0, committed), access::read_write);
        control->allowed = access::read_write;
    }
    if (control->named) {
        name(control, nullptr);
        control->named = false;
    }
    if (control->held == holding::open) {
        // How far an open range was touched only its user knows; the rest is emptied, which costs next to nothing where
        // nothing was touched.
        control->high = std::min(control->reserved, round_up(used, page));
        // (It stays readable, and that is not always wanted.)
        keep = keep && !hidden && !discard(part(control, control->high, control->reserved));
    } else if (keep && committed > 0) {
        // Inaccessible again, but for a start; the memory stays.
        const bool all = control->policy.which() == commit_policy::kind::page_by_page || hidden;
        const std::size_t start = all ? 0 : warm_start;
        if (committed > start) {
            keep = !protect(part(control, start, committed), access::none);
            if (keep) set_committed(control, start);
        }
    }
    control->stale = control->held == holding::open ? control->high : std::max(control->high, committed);
    control->ready.store(0, std::memory_order_relaxed);
    report(control, 0);    // what is kept warm is nobody's
    if (keep && give_to_cache(control)) return;
    {
        const registry_guard guard;
        end_life(control, range_state::unused);
    }
    destroy(control);
}

range* acquire_bare(std::size_t bytes, std::error_code& error) noexcept {
    bytes = round_up(bytes, page_size());
    range* control = make_range(bytes, page_by_page(), error);
    if (control == nullptr) {
        give_back_unused();
        control = make_range(bytes, page_by_page(), error);
    }
    return control;
}

void relinquish_bare(range* control) noexcept {
    {
        const registry_guard guard;
        end_life(control, range_state::unused);
    }
    destroy(control);
}

void destroy(range* control) noexcept {
    leave_granules(control);
    if (hardened()) {
        put_to_rest(control->mapping);
    } else {
        release_surely(control->mapping);
    }
    control->mapping = {};
    free_control_block(control);
}

void cut_memory(range* control, std::size_t kept) noexcept {
    if (control->high <= kept) return;
    const std::size_t committed = committed_of(control);
    if (control->held == holding::open) {
        if (!discard(part(control, kept, control->high))) control->high = kept;
    } else if (!decommit(part(control, kept, std::max(control->high, committed)))) {
        control->high = kept;
        control->committed.store(std::min(committed, kept), std::memory_order_relaxed);    // of a dead range, perhaps
    }
    control->stale = std::min(control->stale, control->high);
}

std::size_t extend(range* control, std::size_t needed, failure& why) noexcept {
    why = {};
    const commit_policy& policy = control->policy;
    const bool past_start = needed > policy.from();
    // From there on the helper may be at work on this range: nothing is read before it is paused.
    if (policy.which() == commit_policy::kind::prefault_ahead && past_start) {
        std::error_code error;
        const std::size_t committed = extend_ahead(control, needed, error);
        why = failure_of(error);
        return committed;
    }
    const std::size_t committed = committed_of(control);
    if (needed <= committed) return committed;
    const std::size_t least = round_up(needed, page_size());
    std::size_t target = least;
    if (policy.which() == commit_policy::kind::huge_pages && past_start && huge_page_size() != 0) {
        advise_huge_once(control);
        target = std::min(control->reserved, round_up(needed, granule));
    } else if (policy.which() != commit_policy::kind::page_by_page) {
        target = std::max(least, committed + step_of(control, committed));
        if (!past_start) target = std::min(target, std::max(least, policy.from()));    // where another step size begins
        target = std::min(target, control->reserved);
    }
    why = failure_of(commit_or_less(control, target, least, policy.which() != commit_policy::kind::page_by_page));
    return why ? 0 : committed_of(control);
}

std::size_t extend_exactly(range* control, std::size_t needed, failure& why) noexcept {
    why = {};
    // The helper must not commit at the same time.
    const helper_pause pause;
    const std::size_t least = round_up(needed, page_size());
    if (least <= committed_of(control)) return committed_of(control);
    why = failure_of(commit_or_less(control, least, least, false));
    return why ? 0 : committed_of(control);
}

std::size_t shrink(range* control, std::size_t kept) noexcept {
    kept = std::min(round_up(kept, page_size()), control->reserved);
    const helper_pause pause;
    control->wanted.store(0);
    control->high = std::max(control->high, control->held == holding::open ? control->reserved : committed_of(control));
    cut_memory(control, kept);
    report(control, committed_of(control));
    if (control->ready.load(std::memory_order_relaxed) > kept) control->ready.store(kept, std::memory_order_release);
    return committed_of(control);
}

std::error_code protect(range* control, access allowed) noexcept {
    const helper_pause pause;
    const std::size_t committed = committed_of(control);
    if (committed > 0)
        if (const std::error_code error = protect(part(control, 0, committed), allowed)) return error;
    control->allowed = allowed;
    return {};
}

access current_access(const range* control) noexcept { return control->allowed; }

void name(range* control, const char* text) noexcept {
    control->lock.lock();
    std::size_t length = 0;
    if (text != nullptr)
        for (; length < longest_name && text[length] != '\0'; ++length) control->label[length] = text[length];
    control->label[length] = '\0';
    control->lock.unlock();
    control->named = text != nullptr;
    (void)name(part(control, 0, control->reserved), text);
}

void transfer(range* from, range* to, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    const helper_pause pause;
    const std::size_t whole = round_up(bytes, page_size());
    if (!remap(part(from, 0, whole), part(to, 0, whole))) {
        count_remapped(whole);
        from->high = std::max(from->high, committed_of(from));
        return;
    }
    std::memcpy(to->base, from->base, bytes);
    count_copied(bytes);
}

}}}  // namespace headroom::detail
