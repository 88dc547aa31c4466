// The ranges of the process, and which granules they cover: see granules.hpp.
#include "range/registry.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "range/granules.hpp"
#include "range/published.hpp"
#include "system/at_fork.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constinit constant_mutex registry_mutex;
constinit range* unused_blocks = nullptr;

// The table at `place`; made where there is none yet. Not under the lock: operator new and its handler are the program's, and may
// come here again (a handler that trims the cache, say). So another thread may be faster. Null without memory.
template <class Table>
Table* table_at(std::atomic<Table*>& place) noexcept {
    Table* found = place.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    auto* const made = new (std::nothrow) Table;
    if (made == nullptr || place.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
    delete made;
    return found;
}

enum class granule_step { make_tables, name };

// Goes through all granules that the range touches, a gigabyte at a time: makes the tables that name them, or has them name `whom`.
// False where there is no table and no memory for one.
bool walk_granules(const range* control, granule_step step, range* whom) noexcept {
    constexpr std::uint64_t gigabyte = std::uint64_t{1} << gigabyte_bits;
    const std::uint64_t base = address_number(control->start());
    const std::uint64_t last = (base + control->size() + granule - 1) / granule * granule;
    for (std::uint64_t at = base / granule * granule; at < last;) {
        const std::uint64_t start = at / gigabyte * gigabyte;
        const std::uint64_t stop = std::min(start + gigabyte, last);
        if (top_index(at) >= entries) return false;    // beyond 48 bits; no system gives such addresses unasked
        middle* const of = table_at(granule_table[top_index(at)]);
        if (of == nullptr) return false;
        const std::size_t index = middle_index(at);
        if (stop - at == gigabyte) {
            if (step == granule_step::name) of->gigabytes[index].store(whom, std::memory_order_release);
        } else {
            leaf* const found = table_at(of->leaves[index]);
            if (found == nullptr) return false;
            if (step == granule_step::name) {
                for (std::size_t i = leaf_index(at); i <= leaf_index(stop - 1); ++i)
                    found->ranges[i].store(whom, std::memory_order_release);
            }
        }
        at = stop;
    }
    return true;
}

}    // namespace

constinit std::atomic<middle*> granule_table[entries]{};

void lock_registry() noexcept { registry_mutex.lock(); }
void unlock_registry() noexcept { registry_mutex.unlock(); }

namespace {

// What other threads had in hand when the process forked stays in the child as it was, and nobody finishes it: a reader
// must not wait for a block that is half written, nor an owner for a helper that did not come along. (The ranges of those
// threads are lost with them.)
void child_of_registry() noexcept {
    for (range* control = first_of_all(); control != nullptr; control = control->identity.next_of_all) {
        const std::uint32_t version = control->identity.version.load(std::memory_order_relaxed);
        if (version % 2 != 0) control->identity.version.store(version + 1, std::memory_order_relaxed);
        control->ahead.batch.forget_holder();
        control->ahead.queued.store(false, std::memory_order_relaxed);
    }
    unlock_registry();
}

[[maybe_unused]] const bool registry_forks = at_fork(fork_place::ranges, {lock_registry, unlock_registry, child_of_registry});

}    // namespace

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
    auto* const block = new (std::nothrow) range();
    if (block == nullptr) return nullptr;
    block->identity.next_of_all = published_ranges.newest.load(std::memory_order_relaxed);
    while (!published_ranges.newest.compare_exchange_weak(block->identity.next_of_all, block, std::memory_order_release)) {}
    return block;
}

void free_control_block(range* control) noexcept {
    const registry_guard guard;
    control->cache.next = unused_blocks;
    unused_blocks = control;
}

bool enter_granules(range* control) noexcept {
    // First all the tables, which stay: so that a refusal leaves nothing half written.
    if (!walk_granules(control, granule_step::make_tables, nullptr)) return false;
    const registry_guard guard;
    return walk_granules(control, granule_step::name, control);
}

void leave_granules(range* control) noexcept {
    const registry_guard guard;
    (void)walk_granules(control, granule_step::name, nullptr);
}

void rewriting::place(std::byte* base, std::size_t reserved) noexcept {
    control_->identity.base.store(base, std::memory_order_release);
    control_->identity.reserved.store(reserved, std::memory_order_release);
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

}}}    // namespace headroom::detail
