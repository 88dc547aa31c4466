#include "range/cache.hpp"

#include <algorithm>
#include <chrono>

#include "range/quarantine.hpp"
#include "system/platform.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "range/small/small_ranges.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// --- A list, from the most to the least recently given, under the registry's lock.

// Each cached range costs up to three mappings of the 65,530 that a process may have by default.
constexpr std::size_t most_ranges = 64;
constexpr std::size_t default_limit = std::size_t{64} << 20;
constexpr std::size_t nobody_said = SIZE_MAX;
// What is kept before anything shows that keeping more would pay.
constexpr std::size_t first_allowance = offered_from;
constexpr std::chrono::seconds until_idle{1};
// What one range may keep, however often its memory was wanted again: nobody can tell the last vector of a loop from the others,
// and its memory would stay. Where memory arrived by appends, element by element, fresh huge pages cost little beside that.
// What came in one piece (a copy, say) would be warm on the heap too, up to this size.
constexpr std::size_t most_of_appended = std::size_t{6} << 20;
constexpr std::size_t most_of_one_piece = std::size_t{32} << 20;

constinit range* newest_kept = nullptr;
constinit range* oldest = nullptr;
constinit std::size_t ranges = 0;
constinit std::size_t bytes_listed = 0;
constinit std::size_t allowance = first_allowance;    // of what the limit permits; all of it, once the user has set a limit
constinit std::chrono::steady_clock::time_point last_hit{};
constinit std::atomic<std::size_t> cache_bytes{nobody_said};    // written under the lock, read without it as a first guess
constinit std::atomic<bool> limit_is_users{false};
// Warm memory of living ranges that their owners have not come to use.
constinit std::atomic<std::size_t> warm_in_ranges{0};

// Where a group of processes may have little memory, and is killed for more, what is kept for later must be little too.
std::size_t present_limit() noexcept {
    std::size_t bytes = cache_bytes.load(std::memory_order_seq_cst);
    if (bytes != nobody_said) return bytes;
    const std::size_t own = std::min(default_limit, memory_of_group() / 16);
    return cache_bytes.compare_exchange_strong(bytes, own, std::memory_order_relaxed) ? own : bytes;
}

// What the list may keep now, with what is warm in living ranges. Under the lock.
std::size_t allowed_now() noexcept {
    const std::size_t bytes = cache_bytes.load(std::memory_order_relaxed);
    const std::size_t listed =
        bytes - (lanes_are_open(bytes) ? most_in_lanes : 0) - (own_slots_are_open(bytes) ? most_in_own_slots : 0);
    return limit_is_users.load(std::memory_order_relaxed) ? listed : std::min(listed, allowance);
}

void unlink(range* control) noexcept {
    (control->previous != nullptr ? control->previous->next : newest_kept) = control->next;
    (control->next != nullptr ? control->next->previous : oldest) = control->previous;
    control->next = control->previous = nullptr;
    --ranges;
    bytes_listed -= control->memory();
}

void link_as_newest(range* control) noexcept {
    control->previous = nullptr;
    control->next = newest_kept;
    (newest_kept != nullptr ? newest_kept->previous : oldest) = control;
    newest_kept = control;
    ++ranges;
    bytes_listed += control->memory();
}

void link_as_oldest(range* control) noexcept {
    control->next = nullptr;
    control->previous = oldest;
    (oldest != nullptr ? oldest->next : newest_kept) = control;
    oldest = control;
    ++ranges;
    bytes_listed += control->memory();
}

// Unlinks the oldest that have memory while more than `bytes` are listed, and the oldest of all while there are more than
// `count`; chains them, for the calls of the system that follow outside the lock.
range* evict_down_to(std::size_t bytes, std::size_t count) noexcept {
    range* evicted = nullptr;
    for (range* each = oldest; each != nullptr && (bytes_listed > bytes || ranges > count);) {
        range* const younger = each->previous;
        if (ranges > count || each->memory() != 0) {
            unlink(each);
            each->next = evicted;
            evicted = each;
        }
        each = younger;
    }
    return evicted;
}

bool is_list_full() noexcept {
    const registry_guard guard;
    return ranges >= most_ranges;
}

// Takes the memory of those that gave way, but keeps their addresses while there are few: to reserve anew costs as much, and
// what they had is how the cache learns that it was missed.
void cut_all(range* evicted) noexcept {
    while (evicted != nullptr) {
        range* const each = evicted;
        evicted = each->next;
        each->next = nullptr;
        if (is_list_full()) {
            destroy(each);
            continue;
        }
        cut_memory(each, 0);
        bool kept = false;
        if (each->memory() == 0) {
            const registry_guard guard;
            if (ranges < most_ranges && cache_bytes.load(std::memory_order_relaxed) != 0) {
                each->cut = true;
                each->cut_to = 0;
                link_as_oldest(each);
                kept = true;
            }
        }
        if (!kept) destroy(each);
    }
}

range* take_from_list(std::size_t bytes, const commit_policy& policy) noexcept {
    const registry_guard guard;
    std::size_t younger = hardened() ? ranges_between : 0;
    for (range* each = newest_kept; each != nullptr; each = each->next) {
        if (younger != 0) {
            --younger;
            continue;
        }
        if (!serves(each, bytes, policy)) continue;
        unlink(each);
        if (each->memory() > small_memory) {
            each->warm = each->memory();
            warm_in_ranges.fetch_add(each->warm, std::memory_order_relaxed);
            last_hit = std::chrono::steady_clock::now();
        }
        return each;
    }
    return nullptr;
}

// The range's life used memory that had been taken from it: keeping it would have paid. The allowance doubles, so that
// it takes a few rounds, and not one accident, to fill it. And where no hit was seen for a while it begins anew.
void learn(range* control) noexcept {
    const auto now = std::chrono::steady_clock::now();
    if (allowance > first_allowance && now - last_hit > until_idle) allowance = first_allowance;
    if (control->cut && control->memory() > control->cut_to + small_memory && allowance < default_limit) {
        allowance = std::min(2 * allowance, default_limit);
        last_hit = now;
    }
    control->cut = false;
}

std::size_t worth_keeping(const range* control) noexcept {
    if (limit_is_users.load(std::memory_order_relaxed)) return SIZE_MAX;
    if (control->appended > control->memory() / 2) return most_of_appended;
    return control->memory() > most_of_one_piece ? first_allowance : SIZE_MAX;
}

bool clear_lanes(lane_contents what) noexcept {
    const small_range_calls* const small = small_ranges.load(std::memory_order_seq_cst);
    return small != nullptr && small->empty_lanes(what);
}
void withdraw_own_slots(bool all) noexcept {
    const small_range_calls* const small = small_ranges.load(std::memory_order_seq_cst);
    if (small != nullptr) destroy_all(small->empty_own_slots(all));
}

// How much memory the range may keep, older ones giving way.
std::size_t room_for(range* control) noexcept {
    const registry_guard guard;
    learn(control);
    const std::size_t warm = warm_in_ranges.load(std::memory_order_relaxed);
    const std::size_t allowed = allowed_now();
    return allowed > warm ? allowed - warm : 0;
}

}    // namespace

constinit std::atomic<const small_range_calls*> small_ranges{nullptr};

std::size_t limit_of_cache() noexcept { return cache_bytes.load(std::memory_order_seq_cst); }

void count_warm_in_use(range* control, std::size_t committed) noexcept {
    const std::size_t memory = control->memory();
    const std::size_t left = std::min(control->warm, memory > committed ? memory - committed : 0);
    if (left == control->warm) return;
    warm_in_ranges.fetch_sub(control->warm - left, std::memory_order_relaxed);
    control->warm = left;
}

range* take_from_cache(std::size_t bytes, const commit_policy& policy) noexcept {
    const small_range_calls* const small = small_ranges.load(std::memory_order_acquire);
    range* found = small == nullptr ? nullptr : small->take_near(bytes, policy);
    if (found != nullptr) return found;
    found = take_from_list(bytes, policy);
    if (found == nullptr) return small == nullptr ? nullptr : small->take_far(bytes, policy);
    make_live(found);
    return found;
}

bool give_to_cache(range* control, bool at_once) noexcept {
    const std::size_t bound = present_limit();
    if (bound == 0) return false;
    control->state.store(range_state::cached, std::memory_order_release);
    if (at_once && control->memory() - control->warm <= small_memory && lanes_are_open(bound)) {
        const small_range_calls* const small = small_ranges.load(std::memory_order_acquire);
        if (small != nullptr && small->give(control, bound)) return true;
    }
    count_warm_in_use(control, SIZE_MAX);
    // (Nothing is learnt from what is not worth keeping, nor from what it was cut to before.)
    if (const std::size_t most = worth_keeping(control); control->memory() > most) {
        control->cut = false;
        cut_memory(control, most);
    }
    control->appended = 0;
    std::size_t room = room_for(control);
    if (control->memory() > room && clear_lanes(lane_contents::large)) room = room_for(control);
    // Older ranges give way to this one, but it alone must fit.
    if (control->memory() > room) {
        cut_memory(control, room);
        control->cut = true;
        control->cut_to = control->memory();
    }
    // What goes beyond the first allowance is kept only while nobody else needs it.
    const std::size_t memory = control->memory();
    if (memory > offered_from && !control->offered && !limit_is_users.load(std::memory_order_relaxed)) {
        offer_memory(control->part(offered_from, memory));
        control->offered = true;
    }
    range* evicted = nullptr;
    bool kept = false;
    {
        const registry_guard guard;
        if (memory <= room && cache_bytes.load(std::memory_order_relaxed) != 0 && memory <= allowed_now()) {
            evicted = evict_down_to(std::min(room, allowed_now()) - memory, most_ranges - 1);
            link_as_newest(control);
            kept = true;
        }
    }
    cut_all(evicted);
    if (!kept) control->state.store(range_state::live, std::memory_order_release);
    return kept;
}

namespace {

// When the code is unloaded, or the program ends, what is kept goes back: nobody else knows of it. Ranges whose owners live
// longer, in other static objects, follow one by one.
struct cache_end {
    ~cache_end() {
        set_cache_limit(0);
        give_back_unused();
    }
};
[[maybe_unused]] const cache_end end_cache;

}    // namespace

}}}    // namespace headroom::detail

namespace headroom { inline namespace v0_1 {

void set_cache_limit(std::size_t bytes) noexcept {
    detail::range* evicted;
    {
        const detail::registry_guard guard;
        detail::limit_is_users.store(true, std::memory_order_relaxed);
        detail::cache_bytes.store(std::min(bytes, detail::nobody_said - 1), std::memory_order_seq_cst);
        evicted = detail::evict_down_to(detail::allowed_now(), bytes == 0 ? 0 : detail::most_ranges);
    }
    if (!detail::own_slots_are_open(bytes)) detail::withdraw_own_slots(true);
    if (!detail::lanes_are_open(bytes)) detail::clear_lanes(detail::lane_contents::all);
    detail::destroy_all(evicted);
}

std::size_t cache_limit() noexcept { return detail::present_limit(); }

void trim_cache() noexcept {
    detail::range* evicted;
    {
        const detail::registry_guard guard;
        evicted = detail::evict_down_to(0, 0);
    }
    detail::destroy_all(evicted);
    detail::withdraw_own_slots(false);
    detail::clear_lanes(detail::lane_contents::all);
}

}}    // namespace headroom
