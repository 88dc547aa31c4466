// The ranges of the process, and which addresses lead to them: see addresses.hpp.
#include "range/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "range/addresses.hpp"
#include "range/published.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constinit constant_mutex registry_mutex;
constinit range* unused_blocks = nullptr;
// A process's first range takes nothing from the heap: two page faults less.
alignas(range) constinit std::byte first_block[sizeof(range)]{};
constinit std::atomic<bool> first_block_taken{false};

}    // namespace

constinit address_table addresses;

void lock_registry() noexcept { registry_mutex.lock(); }
void unlock_registry() noexcept { registry_mutex.unlock(); }

range* first_of_all() noexcept { return published_ranges.newest.load(std::memory_order_acquire); }

range* new_control_block() noexcept {
    {
        const registry_guard guard;
        if (range* const block = unused_blocks) {
            unused_blocks = block->cache.next;
            block->cache.next = nullptr;
            return block;
        }
    }
    void* const memory = first_block_taken.exchange(true) ? std::malloc(sizeof(range)) : first_block;
    if (memory == nullptr) return nullptr;
    auto* const block = new (memory) range();
    block->identity.next_of_all = published_ranges.newest.load(std::memory_order_relaxed);
    while (!published_ranges.newest.compare_exchange_weak(block->identity.next_of_all, block, std::memory_order_release)) {}
    return block;
}

void free_control_block(range* control) noexcept {
    const registry_guard guard;
    control->cache.next = unused_blocks;
    unused_blocks = control;
}

namespace {

// Puts the range first in the lists of the pieces that it lies in, or takes it out of them.
void change_lists(range* control, bool enter) noexcept {
    const unsigned level = level_of(control->size());
    const registry_guard guard;
    if (enter) addresses.levels.fetch_or(std::uint64_t{1} << level, std::memory_order_release);
    const std::size_t last = piece_of(control->start() + control->size() - 1, level);
    for (std::size_t piece = piece_of(control->start(), level); piece <= last; ++piece) {
        std::atomic<range*>* link = &list_of(piece);
        std::atomic<range*>& mine = link_of(control, piece);
        if (enter) {
            mine.store(link->load(std::memory_order_relaxed), std::memory_order_release);
            link->store(control, std::memory_order_release);
        } else {
            while (link->load(std::memory_order_relaxed) != control)
                link = &link_of(link->load(std::memory_order_relaxed), piece);
            link->store(mine.load(std::memory_order_relaxed), std::memory_order_release);
        }
    }
    // After that: who follows a link that this range gets in its next life sees it.
    if (!enter) addresses.left.fetch_add(1, std::memory_order_release);
}

}    // namespace

void enter_addresses(range* control) noexcept { change_lists(control, true); }
void leave_addresses(range* control) noexcept { change_lists(control, false); }

void rewriting::place(std::byte* base, std::size_t reserved) noexcept {
    control_->identity.base.store(base, std::memory_order_release);
    control_->identity.reserved.store(reserved, std::memory_order_release);
}

void copy_label(const range* control, char* to) noexcept {
    for (const auto& each : control->label) {
        const std::size_t word = each.load(std::memory_order_acquire);
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
    }
}

}}}    // namespace headroom::detail
