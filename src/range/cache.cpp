// SPDX-License-Identifier: MIT
// The cache of idle memory: implements cache.hpp. Owns the lists of ranges with idle memory, and the limit.
#include "range/cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "range/account.hpp"
#include "range/extent.hpp"
#include "range/process_policy.hpp"
#include "range/registry.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Ranges with idle memory, the newest first.
struct range_list {
    // Null if it is empty.
    [[nodiscard]] range* newest(const registry_lock&) const noexcept { return newest_; }
    [[nodiscard]] range* oldest(const registry_lock&) const noexcept { return oldest_; }
    [[nodiscard]] std::size_t count(const registry_lock&) const noexcept { return count_; }
    // Neighbours of a range in its list; null at the end.
    [[nodiscard]] static range* newer_than(const range* control) noexcept { return control->cache.newer_; }
    [[nodiscard]] static range* older_than(const range* control) noexcept { return control->cache.older_; }
    // True if `a` was released, or acquired, before `b`.
    [[nodiscard]] static bool is_older(const range* a, const range* b) noexcept { return a->cache.number_ < b->cache.number_; }

    // Precondition: the range is in no list.
    void push_newest(const registry_lock&, range* control) noexcept {
        cache_entry& entry = control->cache;
        entry.list_ = this;
        entry.number_ = ++last_number;
        entry.older_ = newest_;
        (newest_ != nullptr ? newest_->cache.newer_ : oldest_) = control;
        newest_ = control;
        ++count_;
    }
    // Removes a range from the list that it is in, if any.
    static void remove(const registry_lock&, range* control) noexcept {
        cache_entry& entry = control->cache;
        range_list* const list = entry.list_;
        if (list == nullptr) return;
        (entry.newer_ != nullptr ? entry.newer_->cache.older_ : list->newest_) = entry.older_;
        (entry.older_ != nullptr ? entry.older_->cache.newer_ : list->oldest_) = entry.newer_;
        --list->count_;
        entry.newer_ = entry.older_ = nullptr;
        entry.list_ = nullptr;
    }

private:
    static constinit std::size_t last_number;
    range* newest_ = nullptr;
    range* oldest_ = nullptr;
    std::size_t count_ = 0;
};
constinit std::size_t range_list::last_number = 0;

namespace {

// A kept range takes two mappings, with advice for huge pages in a part of it four, of the 65,530 that a process may have by default.
constexpr std::size_t max_kept_ranges = 128;
// Released at a time at least, if there is as much: a system call for each few pages would cost more than they are worth.
constexpr std::size_t min_release = std::size_t{256} << 10;
constexpr std::size_t not_set = SIZE_MAX;

constinit range_list kept_ranges;    // ranges without an owner
constinit range_list live_ranges;    // live ranges, and ranges in thread slots, with idle memory past their committed part
constinit std::atomic<std::size_t> cache_bytes{not_set};
constinit std::atomic<bool> limit_is_set{false};

[[nodiscard]] std::size_t idle_bytes() noexcept { return this_copy.idle_bytes.load(std::memory_order_relaxed); }

// Returns how many bytes may be idle once `more` bytes are in use: the user's limit, otherwise the budget's (account.hpp). `idle` is
// what is idle now. The control group's limit is looked up only if both exceed min_limit.
std::size_t allowed_idle_bytes(std::size_t idle, std::size_t more) noexcept {
    if (limit_is_set.load(std::memory_order_relaxed)) return limit_of_cache(idle);
    const idle_budget budget = budget_with(more);
    const std::size_t limit = limit_of_cache(std::min(idle, budget.regained + budget.missed));
    return std::min(limit, budget.regained) + (limit < default_limit ? 0 : budget.missed);
}

// Returns how many bytes of the range are in use, committed or charged; 0 for a kept range. Precondition: it is in a list.
std::size_t bytes_of_owner(locked_range control) noexcept {
    const range_extent& extent = control->extent;
    return control->cache.is_in(live_ranges) ? whole_pages(std::max(extent.committed(), extent.charged())) : 0;
}

// Locks and returns the oldest range in the lists that no other thread is working on.
range_lock lock_oldest(const registry_lock& registry, bool only_kept) noexcept {
    range* without_owner = kept_ranges.oldest(registry);
    range* live = only_kept ? nullptr : live_ranges.oldest(registry);
    while (without_owner != nullptr || live != nullptr) {
        const bool kept_is_older = live == nullptr || (without_owner != nullptr && range_list::is_older(without_owner, live));
        range*& next = kept_is_older ? without_owner : live;
        range_lock held(next, std::try_to_lock);
        if (held) return held;
        next = range_list::newer_than(next);
    }
    return {};
}

// Returns how many bytes of a range stay if `excess` are to go. The first `owners` bytes are in use. Precondition: it has more.
std::size_t bytes_to_leave(locked_range control, std::size_t owners, std::size_t excess) noexcept {
    const std::size_t memory = control->extent.memory();
    std::size_t left = memory - std::min(memory - owners, std::max(excess, min_release));
    // Splitting a huge page would keep its memory.
    if (control->protection.huge_until() != 0 && left > huge_page_alignment)
        left = huge_page_after(control.get(), left - huge_page_alignment + 1);
    return std::max(left, owners);
}

// Takes a kept range out of the cache, to be unmapped.
void end_range(const registry_lock& registry, locked_range control, range_chain& ending) noexcept {
    range_list::remove(registry, control.get());
    set_account(control, 0, 0);
    control->identity.state.store(range_state::unused, std::memory_order_release);    // see ranges_in_all_slots()
    ending.push(control.get());
}

// Releases idle memory, the oldest first, until `most` bytes are idle and not too many ranges are kept, or other threads work on all the
// rest. Adds the ranges to be unmapped to `ending`, which it returns.
range_chain release_idle_to(std::size_t most, range_chain ending) noexcept {
    for (;;) {
        range_lock victim;
        std::size_t left = 0;
        bool has_owner = false;
        {
            const registry_lock registry;
            const std::size_t idle = idle_bytes();
            const std::size_t excess = idle > most ? idle - most : 0;
            if (excess == 0 && kept_ranges.count(registry) <= max_kept_ranges) return ending;
            victim = lock_oldest(registry, excess == 0);
            if (!victim) return ending;
            has_owner = victim->cache.is_in(live_ranges);
            const std::size_t owners = bytes_of_owner(victim);
            const bool is_used_up = victim->extent.memory() <= owners;
            left = excess == 0 || is_used_up ? owners : bytes_to_leave(victim, owners, excess);
            if (!has_owner && left <= max_slot_bytes) {
                end_range(registry, victim, ending);
                continue;
            }
            if (left == owners) range_list::remove(registry, victim.get());
            if (is_used_up) continue;
        }
        if (has_owner) victim->extent.count_lost();
        const bool released = release_memory_after(victim, left);
        if (has_owner) {
            update_account(victim);
        } else if (released) {
            set_account(victim, 0, victim->extent.memory());
        } else {
            end_range(registry_lock(), victim, ending);
        }
    }
}

// True if the range without an owner may serve the request. Requires its mutex, or its thread's slots.
bool may_serve(const range* control, const range_request& request) noexcept {
    const range_creation& made = control->creation;
    // A guard must follow the bytes that the owner asked for; a premapped range would be writable up to its own guard.
    if (request.exact || made.held == holding::open ? made.usable != request.bytes : made.usable < request.bytes) return false;
    if (made.held != request.policy.how_held() || control->cache.is_unfit()) return false;
    if (!declines_huge_pages(request.policy)) return true;
    return control->protection.huge_until() == 0 && (control->protection.huge_declined() || !huge_pages_come_unasked());
}

// Returns the class of sizes that `bytes` are in: 0 up to 64 KiB, then by powers of two.
int size_class(std::size_t bytes) noexcept {
    constexpr int smallest = 16;
    return bytes == 0 ? 0 : std::max(0, static_cast<int>(std::bit_width(bytes - 1)) - smallest);
}

// Returns the newest kept range that may serve the request: of the class of the known use, otherwise of the next larger class there is,
// otherwise of the smallest. A hardened process skips the newest min_reuse_distance.
range_lock lock_fitting(const registry_lock& registry, const range_request& request) noexcept {
    const int wanted = size_class(request.known_use);
    std::size_t resting = hardened() ? min_reuse_distance : 0;
    range_lock found;
    int least = 0;
    for (range* each = kept_ranges.newest(registry); each != nullptr && (!found || least != wanted);
         each = range_list::older_than(each)) {
        if (resting != 0) {
            --resting;
            continue;
        }
        // Smaller ones come after all larger ones.
        constexpr int more_than_any = 64;
        const int own = request.known_use == 0 ? wanted : size_class(each->extent.memory());
        const int rank = own >= wanted ? own : own + more_than_any;
        if (found && rank >= least) continue;
        range_lock held(each, std::try_to_lock);
        if (!held || !may_serve(each, request)) continue;
        found = std::move(held);
        least = rank;
    }
    return found;
}

// Sets the committed bytes and the account for a new owner.
void prepare_for_owner(const registry_lock& registry, locked_range control, const range_request& request) noexcept {
    const bool none = request.policy.which() == commit_policy::kind::page_by_page;
    const bool premapped = control->creation.held == holding::open;
    range_extent& extent = control->extent;
    const std::size_t warm = std::min({request.bytes, extent.accessible(), whole_pages(initial_warm_commit)});
    const std::size_t start = premapped ? request.bytes : none ? 0 : warm;
    extent.begin_owner(start);
    if (!premapped && extent.memory() > start && !control->cache.is_listed()) live_ranges.push_newest(registry, control.get());
    update_account(control);
}

range_lock pop_from_list(const range_request& request) noexcept {
    if (idle_bytes() == 0) return {};
    const registry_lock registry;
    range_lock found = lock_fitting(registry, request);
    if (!found) return {};
    range_list::remove(registry, found.get());
    prepare_for_owner(registry, found, request);
    return found;
}

// Takes the range that was released last from this thread's slots if it is newer than those in the lists, and fits; with `any`, any.
range_lock pop_from_slots(const range_request& request, bool any) noexcept {
    thread_range_slots* const mine = usable_slots();
    if (mine == nullptr) return {};
    for (std::size_t i = mine->kept.size(); i-- != 0;) {
        range* const each = mine->kept[i];
        if (each == nullptr) continue;
        if (!any && mine->listed[i] != mine->in_lists) return {};
        if (!may_serve(each, request)) continue;
        if (!any && request.known_use != 0 && size_class(each->extent.memory()) != size_class(request.known_use)) return {};
        mine->kept[i] = nullptr;
        range_lock held(each);
        prepare_for_owner(registry_lock(), held, request);
        return held;
    }
    return {};
}

}    // namespace

constinit std::atomic<std::uint32_t> slots_generation{0};
constinit thread_local thread_range_slots this_thread_slots{};

std::size_t limit_of_cache(std::size_t bytes) noexcept {
    std::size_t limit = cache_bytes.load(std::memory_order_relaxed);
    if (limit != not_set) return limit;
    if (bytes <= min_limit) return min_limit;
    // A control group with little memory is killed for more, so little is kept.
    const std::size_t own = std::min(default_limit, lowest_cgroup_limit() / 16);
    return cache_bytes.compare_exchange_strong(limit, own, std::memory_order_relaxed) ? own : limit;
}

range_lock pop_range(const range_request& request) noexcept {
    if (range_lock newest = pop_from_slots(request, false)) return newest;
    range_lock listed = pop_from_list(request);
    if (thread_range_slots* const mine = usable_slots()) mine->in_lists = !listed ? 0 : mine->in_lists - (mine->in_lists != 0);
    return listed ? std::move(listed) : pop_from_slots(request, true);
}

range_chain push_to_list(range_lock held) noexcept {
    update_period();
    bool too_many = false;
    {
        const registry_lock registry;
        range_list::remove(registry, held.get());
        kept_ranges.push_newest(registry, held.get());
        set_account(held, 0, held->extent.memory());
        too_many = kept_ranges.count(registry) > max_kept_ranges;
    }
    std::size_t idle = idle_bytes();
    const std::size_t most = allowed_idle_bytes(idle, 0);
    const std::size_t memory = held->extent.memory();
    if (idle > most && held->extent.populated() < memory && held->creation.held != holding::open) {
        // Memory that was reserved and perhaps never touched is worth less than other ranges'.
        (void)release_memory_after(held, std::max(held->extent.populated(), memory - std::min(memory, idle - most)));
        set_account(held, 0, held->extent.memory());
        idle = idle_bytes();
    }
    range_chain ending;
    if (held->extent.memory() == 0) {
        end_range(registry_lock(), held, ending);
        held.unlock();    // the caller may unmap it before it destroys the argument
        return ending;
    }
    held.unlock();
    if (thread_range_slots* const mine = usable_slots(); mine != nullptr && mine->in_lists != max_kept_ranges) ++mine->in_lists;
    return idle > most || too_many ? release_idle_to(most, ending) : ending;
}

void remove_from_cache(locked_range control) noexcept {
    range_list::remove(registry_lock(), control.get());
    set_account(control, 0, 0);
}

range_chain make_room_for(locked_range control, std::size_t to) noexcept {
    const range_extent& extent = control->extent;
    const std::size_t committed = extent.committed();
    const std::size_t memory = std::max(committed, extent.memory());
    const std::size_t idle = idle_bytes();
    if (to <= memory || idle == 0 || control->creation.home != &this_copy) return {};
    update_period();
    if (extent.lost() > memory) count_missed(std::min(to, extent.lost()) - memory);
    // What of it is idle in this range is in use then.
    const std::size_t own = memory - committed;
    const std::size_t most = allowed_idle_bytes(idle, to - committed) + own;
    return idle <= most ? range_chain() : release_idle_to(most, {});
}

range_chain release_excess() noexcept {
    const std::size_t idle = idle_bytes();
    if (idle == 0) return {};
    update_period();
    const std::size_t most = allowed_idle_bytes(idle, 0);
    return idle > most ? release_idle_to(most, {}) : range_chain();
}

range_chain limit_cache(std::size_t bytes) noexcept {
    const range_chain mine = detach_thread_slots();
    invalidate_all_slots();
    if (bytes == keep_limit) return release_idle_to(0, mine);
    limit_is_set.store(true, std::memory_order_relaxed);
    cache_bytes.store(bytes, std::memory_order_relaxed);
    return release_idle_to(bytes, mine);
}

}}}    // namespace headroom::detail
