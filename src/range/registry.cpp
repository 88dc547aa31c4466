// A table of three levels, as a page table's, from a granule of addresses to the control block of the range that covers it.
// A range writes one entry for each granule it covers, or one for each gigabyte that it covers whole; lookups read three
// words and then check, under the control block's own lock, that the range is live and holds the pointer.
#include "range/registry.hpp"

#include <algorithm>
#include <cstring>
#include <new>

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
constinit std::atomic<middle*> top[entries]{};            // 48 bits of addresses
constinit range* live_ranges = nullptr;
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
template<class Whole, class Part>
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

std::uint64_t first_of(const range* control) noexcept { return address(control->base); }
std::uint64_t last_of(const range* control) noexcept {
    return address(control->base) + (control->reserved + granule - 1) / granule * granule;
}

}  // namespace

void lock_registry() noexcept { registry_mutex.lock(); }
void unlock_registry() noexcept { registry_mutex.unlock(); }

namespace {
[[maybe_unused]] const bool registry_forks = at_fork(fork_place::ranges, {lock_registry, unlock_registry, unlock_registry});
}  // namespace

range* new_control_block() noexcept {
    {
        const registry_guard guard;
        if (range* const block = unused_blocks) {
            unused_blocks = block->next;
            block->next = nullptr;
            return block;
        }
    }
    return new (std::nothrow) range;
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

range* first_live() noexcept { return live_ranges; }

void make_live(range* control) noexcept {
    control->previous = nullptr;
    control->next = live_ranges;
    if (live_ranges != nullptr) live_ranges->previous = control;
    live_ranges = control;
    control->lock.lock();
    control->state = range_state::live;
    control->lock.unlock();
}

void end_life(range* control, range_state next) noexcept {
    (control->previous != nullptr ? control->previous->next : live_ranges) = control->next;
    if (control->next != nullptr) control->next->previous = control->previous;
    control->next = control->previous = nullptr;
    control->lock.lock();
    control->state = next;
    control->lock.unlock();
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

}}}  // namespace headroom::detail

namespace headroom { inline namespace v0_1 {
namespace {

// What a control block says of itself, copied out under its lock; strings are made afterwards, because nothing that may
// allocate belongs under a lock that an allocator built on reservations might need.
struct description {
    void* base;
    std::size_t reserved;
    std::size_t committed;
    char label[detail::longest_name + 1];

    [[nodiscard]] owner to_owner() const { return {base, reserved, committed, label}; }
};

void copy_out(const detail::range* control, description& result) noexcept {
    result.base = control->base;
    result.reserved = control->reserved;
    result.committed = control->committed.load(std::memory_order_relaxed);
    std::memcpy(result.label, control->label, sizeof result.label);
}

}  // namespace

std::optional<owner> owner_of(const void* pointer) {
    detail::range* const control = detail::range_at(pointer);
    if (control == nullptr) return std::nullopt;
    description found;
    control->lock.lock();
    const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(control->base);
    const bool inside = control->state == detail::range_state::live && offset < control->reserved;
    if (inside) copy_out(control, found);
    control->lock.unlock();
    if (!inside) return std::nullopt;
    return found.to_owner();
}

std::vector<owner> reservations() {
    std::vector<description> found;
    for (std::size_t room = 64;; room *= 2) {
        found.resize(room);
        std::size_t count = 0;
        {
            const detail::registry_guard guard;
            for (detail::range* control = detail::first_live(); control != nullptr; control = control->next) {
                if (count < room) {
                    control->lock.lock();
                    copy_out(control, found[count]);
                    control->lock.unlock();
                }
                ++count;
            }
        }
        if (count <= room) {
            found.resize(count);
            break;
        }
    }
    std::vector<owner> result;
    result.reserve(found.size());
    for (const description& each : found) result.push_back(each.to_owner());
    return result;
}

}}  // namespace headroom
