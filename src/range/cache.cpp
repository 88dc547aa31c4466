// The cache of idle memory: implements cache.hpp. Owns the lists of ranges with idle memory, and the limit.
#include "range/cache.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "range/account.hpp"
#include "range/extent.hpp"
#include "range/registry.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Ranges with idle memory, the newest first. Under the registry's lock.
struct range_list {
    range* newest = nullptr;
    range* oldest = nullptr;
    std::size_t count = 0;
};

namespace {

// A kept range takes up to three mappings of the 65,530 that a process may have by default.
constexpr std::size_t max_kept_ranges = 128;
// Released at a time at least, if there is as much: a system call for each few pages would cost more than they are worth.
constexpr std::size_t min_release = std::size_t{256} << 10;
constexpr std::size_t not_set = SIZE_MAX;

constinit range_list kept_ranges;    // ranges without an owner
constinit range_list live_ranges;    // live ranges, and ranges in thread slots, with idle memory past their committed part
constinit std::size_t last_number = 0;
constinit std::atomic<std::size_t> cache_bytes{not_set};
constinit std::atomic<bool> limit_is_set{false};

void unlink(range* control) noexcept {
    cache_entry& entry = control->cache;
    (entry.newer != nullptr ? entry.newer->cache.older : entry.list->newest) = entry.older;
    (entry.older != nullptr ? entry.older->cache.newer : entry.list->oldest) = entry.newer;
    --entry.list->count;
    entry.newer = entry.older = nullptr;
    entry.list = nullptr;
}

// Precondition: the range is in no list.
void link_as_newest(range_list& list, range* control) noexcept {
    cache_entry& entry = control->cache;
    entry.list = &list;
    entry.number = ++last_number;
    entry.older = list.newest;
    (list.newest != nullptr ? list.newest->cache.newer : list.oldest) = control;
    list.newest = control;
    ++list.count;
}

[[nodiscard]] std::size_t idle_bytes() noexcept { return this_copy.idle_bytes.load(std::memory_order_relaxed); }

// Returns how many bytes may be idle once `more` are in use.
std::size_t allowed_idle_bytes(std::size_t idle, std::size_t more) noexcept {
    const std::size_t limit = limit_of_cache(idle);
    if (limit_is_set.load(std::memory_order_relaxed)) return limit;
    const idle_budget budget = budget_with(more);
    return std::min(limit, budget.regained) + (limit < default_limit ? 0 : budget.missed);
}

// Returns how many bytes of the range its owner has committed or is charged for; 0 if it has none.
std::size_t bytes_of_owner(const range* control) noexcept {
    return control->cache.list == &live_ranges ? whole_pages(std::max(committed_of(control), control->extent.charged)) : 0;
}

// Locks and returns the oldest range in the lists that no other thread is working on; null if there is none.
range* lock_oldest(bool only_kept) noexcept {
    range* without_owner = kept_ranges.oldest;
    range* live = only_kept ? nullptr : live_ranges.oldest;
    while (without_owner != nullptr || live != nullptr) {
        const bool kept_is_older =
            live == nullptr || (without_owner != nullptr && without_owner->cache.number < live->cache.number);
        range*& next = kept_is_older ? without_owner : live;
        range* const each = next;
        next = each->cache.newer;
        if (each->mutex.try_lock()) return each;
    }
    return nullptr;
}

// Returns how many bytes of a locked range stay if `excess` are to go. The first `owners` bytes are in use. Precondition: it has more.
std::size_t bytes_to_leave(const range* control, std::size_t owners, std::size_t excess) noexcept {
    const std::size_t memory = control->memory();
    std::size_t left = memory - std::min(memory - owners, std::max(excess, min_release));
    // Splitting a huge page would keep its memory.
    if (control->protection.huge_advised && left > huge_page_alignment)
        left = huge_page_after(control, left - huge_page_alignment + 1);
    return std::max(left, owners);
}

// Releases idle memory, the oldest first, until `most` bytes are idle and not too many ranges are kept. Puts the ranges to be unmapped in
// front of the list `ending`, which it returns.
range* release_idle_to(std::size_t most, range* ending) noexcept {
    for (;;) {
        std::unique_lock guard(registry_mutex);
        const std::size_t idle = idle_bytes();
        const std::size_t excess = idle > most ? idle - most : 0;
        if (excess == 0 && kept_ranges.count <= max_kept_ranges) return ending;
        range* const victim = lock_oldest(excess == 0);
        if (victim == nullptr) return ending;
        const bool has_owner = victim->cache.list == &live_ranges;
        const std::size_t owners = bytes_of_owner(victim);
        const bool is_used_up = victim->memory() <= owners;
        const std::size_t left = excess == 0 || is_used_up ? owners : bytes_to_leave(victim, owners, excess);
        const bool ends = !has_owner && left <= max_slot_bytes;
        if (ends || left == owners) unlink(victim);
        if (ends || is_used_up) {
            if (ends) {
                set_account(victim, 0, 0);
                victim->identity.state.store(range_state::unused, std::memory_order_release);    // see ranges_in_all_slots()
                victim->cache.next = ending;
                ending = victim;
            }
            victim->mutex.unlock();
            continue;
        }
        guard.unlock();
        if (has_owner) victim->extent.lost = std::max(victim->extent.lost, victim->memory());
        const bool released = release_memory_after(victim, left);
        has_owner ? update_account(victim) : set_account(victim, 0, victim->memory());
        if (!released && !has_owner) {
            remove_from_cache(victim);
            victim->identity.state.store(range_state::unused, std::memory_order_release);
            victim->cache.next = ending;
            ending = victim;
        }
        victim->mutex.unlock();
    }
}

// True if the range without an owner may serve the request. Requires its mutex, or its thread's slots.
bool may_serve(const range* control, const range_request& request) noexcept {
    const range_creation& made = control->creation;
    // A guard must follow the bytes that the owner asked for; a premapped range would be writable up to its own guard.
    if (request.exact || made.held == holding::open ? made.usable != request.bytes : made.usable < request.bytes) return false;
    if (made.held != request.policy.how_held() || control->cache.unfit) return false;
    const commit_policy::kind kind = request.policy.which();
    const bool may_be_huge = kind != commit_policy::kind::page_by_page && kind != commit_policy::kind::stepped;
    return may_be_huge || !control->protection.huge_advised;
}

// Returns the class of sizes that `bytes` are in: 0 up to 64 KiB, then by powers of two.
int size_class(std::size_t bytes) noexcept {
    constexpr int smallest = 16;
    return bytes == 0 ? 0 : std::max(0, static_cast<int>(std::bit_width(bytes - 1)) - smallest);
}

// Returns the newest kept range that may serve the request, locked: of the class of the known use or, if there is none, of the next larger
// one; null if there is none. Requires the registry's lock.
range* lock_fitting(const range_request& request) noexcept {
    const int wanted = size_class(request.known_use);
    std::size_t resting = hardened() ? min_reuse_distance : 0;
    range* found = nullptr;
    int least = 0;
    for (range* each = kept_ranges.newest; each != nullptr && (found == nullptr || least != wanted); each = each->cache.older) {
        if (resting != 0) {
            --resting;
            continue;
        }
        // Smaller ones come after all larger ones.
        constexpr int more_than_any = 64;
        const int own = request.known_use == 0 ? wanted : size_class(each->memory());
        const int rank = own >= wanted ? own : own + more_than_any;
        if ((found != nullptr && rank >= least) || !each->mutex.try_lock()) continue;
        if (!may_serve(each, request)) {
            each->mutex.unlock();
            continue;
        }
        if (found != nullptr) found->mutex.unlock();
        found = each;
        least = rank;
    }
    return found;
}

// Sets the committed bytes and the account for a new owner. Requires the range's mutex and the registry's lock.
range* prepare_for_owner(range* control, const range_request& request) noexcept {
    const bool none = request.policy.which() == commit_policy::kind::page_by_page;
    const bool open = control->creation.held == holding::open;
    const std::size_t start = none ? 0 : std::min({request.bytes, control->extent.accessible, whole_pages(initial_warm_commit)});
    control->extent.committed.store(open ? request.bytes : start, std::memory_order_release);
    control->extent.lost = 0;
    if (!open && control->memory() > start && control->cache.list == nullptr) link_as_newest(live_ranges, control);
    update_account(control);
    return control;
}

range* pop_from_list(const range_request& request) noexcept {
    if (idle_bytes() == 0) return nullptr;
    const std::lock_guard guard(registry_mutex);
    range* const found = lock_fitting(request);
    if (found == nullptr) return nullptr;
    unlink(found);
    return prepare_for_owner(found, request);
}

// Takes the range that was released last from this thread's slots if it is newer than those in the lists, and fits; with `any`, any.
range* pop_from_slots(const range_request& request, bool any) noexcept {
    thread_range_slots* const mine = usable_slots();
    if (mine == nullptr) return nullptr;
    for (std::size_t i = mine->kept.size(); i-- != 0;) {
        range* const each = mine->kept[i];
        if (each == nullptr) continue;
        if (!any && mine->listed[i] != mine->in_lists) return nullptr;
        if (!may_serve(each, request)) continue;
        if (!any && request.known_use != 0 && size_class(each->memory()) != size_class(request.known_use)) return nullptr;
        mine->kept[i] = nullptr;
        each->mutex.lock();
        const std::lock_guard guard(registry_mutex);
        return prepare_for_owner(each, request);
    }
    return nullptr;
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

range* pop_range(const range_request& request) noexcept {
    if (range* const newest = pop_from_slots(request, false)) return newest;
    range* const listed = pop_from_list(request);
    if (thread_range_slots* const mine = usable_slots())
        mine->in_lists = listed == nullptr ? 0 : mine->in_lists - (mine->in_lists != 0);
    return listed != nullptr ? listed : pop_from_slots(request, true);
}

range* push_to_list(range* control) noexcept {
    update_period();
    bool too_many = false;
    {
        const std::lock_guard guard(registry_mutex);
        if (control->cache.list != nullptr) unlink(control);
        link_as_newest(kept_ranges, control);
        set_account(control, 0, control->memory());
        too_many = kept_ranges.count > max_kept_ranges;
    }
    std::size_t idle = idle_bytes();
    const std::size_t most = allowed_idle_bytes(idle, 0);
    const std::size_t memory = control->memory();
    if (idle > most && control->extent.populated < memory && control->creation.held != holding::open) {
        // Memory that was reserved and perhaps never touched is worth less than other ranges'.
        (void)release_memory_after(control, std::max(control->extent.populated, memory - std::min(memory, idle - most)));
        set_account(control, 0, control->memory());
        idle = idle_bytes();
    }
    const bool ends = control->memory() == 0;
    if (ends) {
        remove_from_cache(control);
        control->identity.state.store(range_state::unused, std::memory_order_release);    // see ranges_in_all_slots()
    }
    control->mutex.unlock();
    if (ends) return control;
    if (thread_range_slots* const mine = usable_slots(); mine != nullptr && mine->in_lists != max_kept_ranges) ++mine->in_lists;
    return idle > most || too_many ? release_idle_to(most, nullptr) : nullptr;
}

void remove_from_cache(range* control) noexcept {
    const std::lock_guard guard(registry_mutex);
    if (control->cache.list != nullptr) unlink(control);
    set_account(control, 0, 0);
}

range* make_room_for(range* control, std::size_t to) noexcept {
    const std::size_t committed = committed_of(control);
    const std::size_t memory = std::max(committed, control->memory());
    const std::size_t idle = idle_bytes();
    if (to <= memory || idle == 0 || control->creation.home != &this_copy) return nullptr;
    update_period();
    if (control->extent.lost > memory) count_missed(std::min(to, control->extent.lost) - memory);
    // What of it is idle in this range is in use then.
    const std::size_t own = memory - committed;
    const std::size_t most = allowed_idle_bytes(idle, to - committed) + own;
    return idle <= most ? nullptr : release_idle_to(most, nullptr);
}

range* release_excess() noexcept {
    const std::size_t idle = idle_bytes();
    if (idle == 0) return nullptr;
    update_period();
    const std::size_t most = allowed_idle_bytes(idle, 0);
    return idle > most ? release_idle_to(most, nullptr) : nullptr;
}

range* limit_cache(std::size_t bytes) noexcept {
    range* const mine = detach_thread_slots();
    invalidate_all_slots();
    if (bytes == keep_limit) return release_idle_to(0, mine);
    limit_is_set.store(true, std::memory_order_relaxed);
    cache_bytes.store(bytes, std::memory_order_relaxed);
    return release_idle_to(bytes, mine);
}

}}}    // namespace headroom::detail
