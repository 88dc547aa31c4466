// The slots of the cache that belong to one thread: it fills and empties them with plain loads and stores.
//
// Another thread that wants what lies in them (to trim the cache, say) withdraws them for good: it says so, makes every running
// thread pass a memory fence, waits until their owner is not at work on them, and empties them. The owner looks whether they
// are still its own after it has said that it is at work, so one of the two sees the other. A thread whose slots were
// withdrawn gets others, while there are any, when it has given back some ranges more; one that ends leaves what is in its
// slots to whoever trims the cache.
//
// Only where memory that is kept stays as it is (not hardened, and with no tool that looks at it), and where the system can
// make threads pass a fence. Others use the shared slots, as do threads that come when all slots have had an owner.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t own_places = 2;
// How much memory a range may have to be kept in a slot, here or in those that threads share.
inline constexpr std::size_t small_memory = std::size_t{64} << 10;

struct alignas(64) own_slots {
    std::array<std::atomic<range*>, own_places> kept{};
    std::atomic<std::uint32_t> busy{0};         // whether the owner is at work on them
    std::atomic<std::uint32_t> withdrawn{0};    // whether they have no owner any more
};

// Whether any thread has slots of its own. Where a thread's variables may be gone, none ever has.
extern constinit std::atomic<bool> own_slots_open;
extern constinit thread_local own_slots* slots_of_this_thread;

// How many threads have slots at a time, and what these may hold. Who comes then gets some all the same, and those that were
// given first, perhaps to a thread that has ended, are withdrawn.
inline constexpr std::size_t own_slots_at_once = 32;
inline constexpr std::size_t most_in_own_slots = own_slots_at_once * own_places * small_memory;

// Calls `work(slots)` if the thread has slots of its own; nobody else touches them meanwhile. The result, or null.
template <class Work>
HEADROOM_ALWAYS_INLINE range* with_own_slots(Work work) noexcept {
    if (!own_slots_open.load(std::memory_order_relaxed)) return nullptr;
    own_slots* const mine = slots_of_this_thread;
    if (mine == nullptr) return nullptr;
    mine->busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);    // for the processor, whoever withdraws them makes the fence
    range* const result = mine->withdrawn.load(std::memory_order_relaxed) == 0 ? work(*mine) : nullptr;
    mine->busy.store(0, std::memory_order_release);
    return result;
}

// A range of the thread's own that `serves(range)`, made live; null when there is none.
template <class Serves>
HEADROOM_ALWAYS_INLINE range* take_own(Serves serves) noexcept {
    range* const found = detail::with_own_slots([=](own_slots& mine) noexcept -> range* {
        for (std::atomic<range*>& place : mine.kept) {
            range* const each = place.load(std::memory_order_relaxed);
            if (each == nullptr || !serves(each)) continue;
            place.store(nullptr, std::memory_order_relaxed);
            return each;
        }
        return nullptr;
    });
    if (found == nullptr) return nullptr;
    found->hits.store(found->hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    found->state.store(range_state::live, std::memory_order_release);
    return found;
}

// Keeps the range, whose life is over and which has little memory, in a slot of the thread's own. False: none is free.
HEADROOM_ALWAYS_INLINE bool keep_own(range* control) noexcept {
    return detail::with_own_slots([=](own_slots& mine) noexcept -> range* {
               for (std::atomic<range*>& place : mine.kept) {
                   if (place.load(std::memory_order_relaxed) != nullptr) continue;
                   control->state.store(range_state::cached, std::memory_order_release);
                   place.store(control, std::memory_order_release);
                   return control;
               }
               return nullptr;
           }) != nullptr;
}

// The thread has given back a small range and has no slot for it: one that does so again and again gets slots.
void wish_for_own_slots() noexcept;

// Empties the slots of all threads, as far as the system lets it; the ranges it found, chained by `next`. Those of other
// threads are withdrawn where there is something in them, or, with `all`, in any case.
[[nodiscard]] range* empty_own_slots(bool all) noexcept;

// In a forked child: the other threads, and what they had in hand, did not come along. Under the registry's lock.
void forget_owners_at_work() noexcept;

// Nobody keeps or takes anything there any more; what is there stays until the cache is trimmed. (The program is hardened now.)
void close_own_slots() noexcept;

}}}    // namespace headroom::detail
