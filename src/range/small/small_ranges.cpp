#include "range/small/small_ranges.hpp"

#include "range/cache.hpp"
#include "range/range_calls.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Ranges change hands here by exchange alone: whoever gets one out owns it, be it a thread that reserves or one that trims.
// A thread that ends leaves its lane as it is, for the next thread of that number, or for whoever finds nothing in its own.
struct alignas(64) lane {
    std::array<std::atomic<range*>, places_in_lane> kept{};
};
constinit std::array<lane, lanes> all_lanes{};
constinit std::atomic<std::uint32_t> threads_seen{0};
constinit thread_local std::uint32_t lane_of_this_thread = 0;    // from 1

lane& lane_of_thread() noexcept {
    // (Where a thread's variables may be gone already, to name one would make a new one.)
    if (thread_variables_gone_at_end()) return all_lanes[0];
    if (lane_of_this_thread == 0) lane_of_this_thread = threads_seen.fetch_add(1, std::memory_order_relaxed) % lanes + 1;
    return all_lanes[lane_of_this_thread - 1];
}

range* take_from_lane(lane& from, std::size_t bytes, const commit_policy& policy) noexcept {
    for (std::atomic<range*>& place : from.kept) {
        if (place.load(std::memory_order_relaxed) == nullptr) continue;
        range* const found = place.exchange(nullptr, std::memory_order_acquire);
        if (found == nullptr) continue;
        if (serves(found, bytes, policy)) {
            make_live(found);
            return found;
        }
        range* nobody = nullptr;
        if (place.compare_exchange_strong(nobody, found, std::memory_order_release)) continue;
        destroy(found);    // another thread has filled the place meanwhile
    }
    return nullptr;
}

bool give_to_lane(range* control) noexcept {
    for (std::atomic<range*>& place : lane_of_thread().kept) {
        if (place.load(std::memory_order_relaxed) != nullptr) continue;
        range* nobody = nullptr;
        if (!place.compare_exchange_strong(nobody, control, std::memory_order_seq_cst)) continue;
        // Whoever lowers the limit writes it and then empties the lanes; this writes the lane and then reads the limit.
        if (!lanes_are_open(limit_of_cache())) {
            if (range* const again = place.exchange(nullptr, std::memory_order_acquire)) destroy(again);
        }
        return true;
    }
    return false;
}

bool empty_lanes(lane_contents what) noexcept {
    bool any = false;
    for (lane& each : all_lanes) {
        for (std::atomic<range*>& place : each.kept) {
            range* const found = place.exchange(nullptr, std::memory_order_seq_cst);
            if (found == nullptr) continue;
            range* nobody = nullptr;
            if (what == lane_contents::large && found->warm == 0 &&
                place.compare_exchange_strong(nobody, found, std::memory_order_seq_cst)) {
                continue;
            }
            destroy(found);
            any = true;
        }
    }
    return any;
}

range* take_near(std::size_t bytes, const commit_policy& policy) noexcept {
    range* const own = take_own([bytes, &policy](const range* each) noexcept { return serves(each, bytes, policy); });
    return own != nullptr ? own : take_from_lane(lane_of_thread(), bytes, policy);
}

range* take_far(std::size_t bytes, const commit_policy& policy) noexcept {
    for (lane& each : all_lanes) {
        if (range* const found = take_from_lane(each, bytes, policy)) return found;
    }
    return nullptr;
}

bool give_small(range* control, std::size_t limit_now) noexcept {
    if (control->quick && control->warm == 0 && control->memory() <= small_memory && keep_own(control)) return true;
    if (own_slots_are_open(limit_now)) wish_for_own_slots();
    return give_to_lane(control);
}

constexpr small_range_calls calls_for_small_ranges{
    take_near, take_far, give_small, empty_lanes, empty_own_slots, forget_owners_at_work, close_own_slots};

}    // namespace

void keep_small_ranges() noexcept {
    if (small_ranges.load(std::memory_order_relaxed) == nullptr)
        small_ranges.store(&calls_for_small_ranges, std::memory_order_seq_cst);
}

}}}    // namespace headroom::detail
