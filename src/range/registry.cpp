// A table of three levels, as a page table's, from a granule of addresses to the control block of the range that covers it.
// A range writes one entry for each granule it covers, or one for each gigabyte that it covers whole; lookups read three
// words and then check that the range is live and holds the pointer.
#include "range/registry.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "range/published.hpp"
#include "range/own_slots.hpp"
#include "system/at_fork.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constexpr unsigned granule_bits = 21;
constexpr unsigned level_bits = 9;
constexpr std::size_t entries = std::size_t{1} << level_bits;
constexpr unsigned gigabyte_bits = granule_bits + level_bits;

static_assert(granule == std::size_t{1} << granule_bits);

struct leaf {
    std::atomic<range*> ranges[entries]{};
};
struct middle {
    std::atomic<range*> gigabytes[entries]{};    // the range that covers the gigabyte whole, if one does
    std::atomic<leaf*> leaves[entries]{};        // otherwise: its granules; kept once made
};

constinit constant_mutex registry_mutex;
constinit std::atomic<middle*> top[entries]{};    // 48 bits of addresses
constinit range* unused_blocks = nullptr;

std::uint64_t address(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t top_index(std::uint64_t at) noexcept { return static_cast<std::size_t>(at >> (gigabyte_bits + level_bits)); }
std::size_t middle_index(std::uint64_t at) noexcept { return static_cast<std::size_t>(at >> gigabyte_bits) % entries; }
std::size_t leaf_index(std::uint64_t at) noexcept { return static_cast<std::size_t>(at >> granule_bits) % entries; }

middle* middle_for(std::uint64_t at) noexcept {
    const std::size_t index = top_index(at);
    if (index >= entries) return nullptr;    // beyond 48 bits; no system gives such addresses unasked
    middle* found = top[index].load(std::memory_order_acquire);
    if (found == nullptr) {
        found = new (std::nothrow) middle;
        if (found != nullptr) top[index].store(found, std::memory_order_release);
    }
    return found;
}

leaf* leaf_for(middle* of, std::size_t index) noexcept {
    leaf* found = of->leaves[index].load(std::memory_order_acquire);
    if (found == nullptr) {
        found = new (std::nothrow) leaf;
        if (found != nullptr) of->leaves[index].store(found, std::memory_order_release);
    }
    return found;
}

// Calls `whole(middle, index)` for each gigabyte that [first, last) covers whole and `part(middle, index, from, to)` for the
// granules of the others; stops and returns false when one of them does.
template <class Whole, class Part>
bool for_each_slot(std::uint64_t first, std::uint64_t last, Whole whole, Part part) noexcept {
    constexpr std::uint64_t gigabyte = std::uint64_t{1} << gigabyte_bits;
    for (std::uint64_t at = first; at < last;) {
        const std::uint64_t start = at / gigabyte * gigabyte;
        const std::uint64_t stop = std::min(start + gigabyte, last);
        middle* const of = middle_for(at);
        if (of == nullptr) return false;
        const bool ok = at == start && stop == start + gigabyte
                            ? whole(of, middle_index(at))
                            : part(of, middle_index(at), leaf_index(at), leaf_index(stop - 1) + 1);
        if (!ok) return false;
        at = stop;
    }
    return true;
}

std::uint64_t first_of(const range* control) noexcept { return address(control->start()); }
std::uint64_t last_of(const range* control) noexcept {
    return address(control->start()) + (control->size() + granule - 1) / granule * granule;
}

}    // namespace

void lock_registry() noexcept { registry_mutex.lock(); }
void unlock_registry() noexcept { registry_mutex.unlock(); }

namespace {

// What other threads had in hand when the process forked stays in the child as it was, and nobody finishes it: a reader
// must not wait for a block that is half written, nor an owner for a helper that did not come along. (The ranges of those
// threads are lost with them.)
void child_of_registry() noexcept {
    for (range* control = first_of_all(); control != nullptr; control = control->next_of_all) {
        const std::uint32_t version = control->version.load(std::memory_order_relaxed);
        if (version % 2 != 0) control->version.store(version + 1, std::memory_order_relaxed);
        control->batch.forget_holder();
        control->queued.store(false, std::memory_order_relaxed);
    }
    forget_owners_at_work();
    unlock_registry();
}

[[maybe_unused]] const bool registry_forks = at_fork(fork_place::ranges, {lock_registry, unlock_registry, child_of_registry});

}    // namespace

range* first_of_all() noexcept { return published_ranges.newest.load(std::memory_order_acquire); }

range* new_control_block() noexcept {
    {
        const registry_guard guard;
        if (range* const block = unused_blocks) {
            unused_blocks = block->next;
            block->next = nullptr;
            return block;
        }
    }
    auto* const block = new (std::nothrow) range;
    if (block == nullptr) return nullptr;
    block->next_of_all = published_ranges.newest.load(std::memory_order_relaxed);
    while (!published_ranges.newest.compare_exchange_weak(block->next_of_all, block, std::memory_order_release)) {}
    return block;
}

void free_control_block(range* control) noexcept {
    const registry_guard guard;
    control->next = unused_blocks;
    unused_blocks = control;
}

bool enter_granules(range* control) noexcept {
    const registry_guard guard;
    const std::uint64_t first = first_of(control), last = last_of(control);
    // First all the tables, so that a refusal leaves nothing half written.
    const bool room = for_each_slot(
        first, last, [](middle*, std::size_t) { return true; },
        [](middle* of, std::size_t index, std::size_t, std::size_t) { return leaf_for(of, index) != nullptr; });
    if (!room) return false;
    return for_each_slot(
        first, last,
        [=](middle* of, std::size_t index) {
            of->gigabytes[index].store(control, std::memory_order_release);
            return true;
        },
        [=](middle* of, std::size_t index, std::size_t from, std::size_t to) {
            leaf* const leaf = of->leaves[index].load(std::memory_order_relaxed);
            for (std::size_t i = from; i < to; ++i) leaf->ranges[i].store(control, std::memory_order_release);
            return true;
        });
}

void leave_granules(range* control) noexcept {
    const registry_guard guard;
    for_each_slot(
        first_of(control), last_of(control),
        [](middle* of, std::size_t index) {
            of->gigabytes[index].store(nullptr, std::memory_order_release);
            return true;
        },
        [](middle* of, std::size_t index, std::size_t from, std::size_t to) {
            leaf* const leaf = of->leaves[index].load(std::memory_order_relaxed);
            for (std::size_t i = from; i < to; ++i) leaf->ranges[i].store(nullptr, std::memory_order_release);
            return true;
        });
}

void rewriting::place(std::byte* base, std::size_t reserved) noexcept {
    control_->base.store(base, std::memory_order_release);
    control_->reserved.store(reserved, std::memory_order_release);
}

void rewriting::label(const char* text) noexcept {
    char bytes[longest_name + 1] = {};
    if (text != nullptr)
        for (std::size_t i = 0; i < longest_name && text[i] != '\0'; ++i) bytes[i] = text[i];
    for (std::size_t i = 0; i < control_->label.size(); ++i) {
        std::size_t word;
        std::memcpy(&word, bytes + i * sizeof word, sizeof word);
        control_->label[i].store(word, std::memory_order_release);
    }
}

void copy_label(const range* control, char* to) noexcept {
    for (const auto& each : control->label) {
        const std::size_t word = each.load(std::memory_order_acquire);
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
    }
}

range* range_at(const void* pointer) noexcept {
    const std::uint64_t at = address(pointer);
    if (top_index(at) >= entries) return nullptr;
    const middle* const of = top[top_index(at)].load(std::memory_order_acquire);
    if (of == nullptr) return nullptr;
    if (range* const whole = of->gigabytes[middle_index(at)].load(std::memory_order_acquire)) return whole;
    const leaf* const leaf = of->leaves[middle_index(at)].load(std::memory_order_acquire);
    return leaf == nullptr ? nullptr : leaf->ranges[leaf_index(at)].load(std::memory_order_acquire);
}

}}}    // namespace headroom::detail
