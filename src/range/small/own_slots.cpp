#include "range/small/own_slots.hpp"

#include <chrono>
#include <thread>

#include "range/cache.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "range/small/small_ranges.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit std::atomic<bool> own_slots_open{false};
constinit thread_local own_slots* slots_of_this_thread = nullptr;

namespace {

// A thread that gives back fewer small ranges has little to gain, and slots are few.
constexpr std::uint32_t wishes_needed = 32;
constinit thread_local std::uint32_t wishes = 0;

// Each is given once: a thread that looks whether slots are its own must not meet another one's. Those not given yet take no
// memory.
constexpr std::size_t most_own_slots = 2048;
constinit std::array<own_slots, most_own_slots> all_slots{};
// Written under the registry's lock. Those from `first_in_use` on, to the last that was given, are not withdrawn, or not all.
constinit std::atomic<std::size_t> slots_given{0};
constinit std::size_t first_in_use = 0;

// Asked while the process has one thread, if it ever had only one: later the answer takes the system 16 to 20 ms, once.
[[maybe_unused]] const bool can_fence = other_threads_can_be_fenced();

bool is_empty(const own_slots& slots) noexcept {
    for (const std::atomic<range*>& place : slots.kept)
        if (place.load(std::memory_order_relaxed) != nullptr) return false;
    return true;
}

// The slots are the caller's alone: puts what is in them before the chain `found`.
range* take_all(own_slots& slots, range* found) noexcept {
    for (std::atomic<range*>& place : slots.kept) {
        range* const each = place.load(std::memory_order_acquire);
        if (each == nullptr) continue;
        place.store(nullptr, std::memory_order_relaxed);
        each->next = found;
        found = each;
    }
    return found;
}

void wait_for_owner(const own_slots& slots) noexcept {
    const kept_errno unchanged;    // a signal may end a sleep
    // A few instructions, unless the owner is not running; then it may need this processor.
    for (unsigned tries = 0; slots.busy.load(std::memory_order_acquire) != 0; ++tries) {
        if (tries < 100) std::this_thread::yield();
        else std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

// Withdraws slots of other threads, and puts what is in them before the chain `found`. False: the system refuses a fence, and
// they stay with their owners. (One that looked meanwhile has used a shared slot.)
bool withdraw(own_slots* const* slots, std::size_t count, range*& found) noexcept {
    for (std::size_t i = 0; i < count; ++i) slots[i]->withdrawn.store(1, std::memory_order_relaxed);
    if (!fence_other_threads()) {
        for (std::size_t i = 0; i < count; ++i) slots[i]->withdrawn.store(0, std::memory_order_relaxed);
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        wait_for_owner(*slots[i]);
        found = take_all(*slots[i], found);
    }
    return true;
}

}    // namespace

void wish_for_own_slots() noexcept {
    if (slots_given.load(std::memory_order_relaxed) == most_own_slots || thread_variables_gone_at_end()) return;
    if (++wishes < wishes_needed) return;
    wishes = 0;
    own_slots* const mine = slots_of_this_thread;
    if (mine != nullptr && mine->withdrawn.load(std::memory_order_relaxed) == 0) return;    // they are just full
    const tools at_work = tools_at_work();
    if (warm_memory_is_hidden() || at_work.follow_pointers || at_work.count_memory || !other_threads_can_be_fenced()) return;
    range* left = nullptr;
    {
        const registry_guard guard;
        const std::size_t index = slots_given.load(std::memory_order_relaxed);
        if (!own_slots_are_open(limit_of_cache()) || index == most_own_slots) return;
        while (index - first_in_use >= own_slots_at_once) {
            own_slots* const first = &all_slots[first_in_use];
            if (first->withdrawn.load(std::memory_order_relaxed) == 0 && !withdraw(&first, 1, left)) return;
            ++first_in_use;
        }
        slots_given.store(index + 1, std::memory_order_relaxed);
        slots_of_this_thread = &all_slots[index];
        own_slots_open.store(true, std::memory_order_relaxed);
    }
    destroy_all(left);
}

range* empty_own_slots(bool all) noexcept {
    const registry_guard guard;
    const std::size_t given = slots_given.load(std::memory_order_relaxed);
    if (given == 0) return nullptr;
    own_slots* const mine = slots_of_this_thread;
    range* found = nullptr;
    std::array<own_slots*, own_slots_at_once> wanted{};
    std::size_t count = 0;
    for (std::size_t i = first_in_use; i < given; ++i) {
        own_slots& each = all_slots[i];
        if (each.withdrawn.load(std::memory_order_relaxed) != 0) continue;
        if (&each == mine) {
            found = take_all(each, found);
            if (all) each.withdrawn.store(1, std::memory_order_relaxed);
        } else if (all || !is_empty(each)) {
            wanted[count++] = &each;
        }
    }
    if (count != 0) (void)withdraw(wanted.data(), count, found);
    return found;
}

void forget_owners_at_work() noexcept {
    const std::size_t given = slots_given.load(std::memory_order_relaxed);
    for (std::size_t i = first_in_use; i < given; ++i) all_slots[i].busy.store(0, std::memory_order_relaxed);
}

void close_own_slots() noexcept { own_slots_open.store(false, std::memory_order_relaxed); }

}}}    // namespace headroom::detail
