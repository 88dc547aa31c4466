// SPDX-License-Identifier: MIT
// Registry of all ranges: implements registry.hpp. Owns the control blocks and the table that other processes read.
#include "range/registry.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include <headroom/detail/published_table.hpp>

#include "system/constant_mutex.hpp"
#include "system/note.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constinit constant_mutex registry_mutex;
constinit range_chain unused_blocks;
// A process's first range allocates nothing from the heap, which saves two page faults.
alignas(range) constinit std::byte first_block[sizeof(range)]{};
constinit std::atomic<std::uint32_t> first_block_taken{0};

static_assert(std::is_standard_layout_v<range>, "its fields have places that can be told");
// These numbers are part of the format.
static_assert(static_cast<int>(range_state::unused) == 0 && static_cast<int>(range_state::live) == 1 &&
              static_cast<int>(range_state::cached) == 2);
static_assert(static_cast<int>(access::none) == 0 && static_cast<int>(access::read_only) == 1 &&
              static_cast<int>(access::read_write) == 2);
static_assert(static_cast<int>(holding::guarded) == 0 && static_cast<int>(holding::open) == 1);
// Readers in other processes read these as plain integers.
static_assert(sizeof(std::atomic<range_state>) == 4 && sizeof(std::atomic<std::size_t>) == sizeof(std::size_t) &&
              sizeof(std::atomic<range*>) == sizeof(void*) && sizeof(std::atomic<std::uint64_t>) == 8);

}    // namespace

#define HEADROOM_PLACE(field) \
    {static_cast<std::uint32_t>(offsetof(range, field)), static_cast<std::uint32_t>(sizeof(static_cast<range*>(nullptr)->field))}

// Where a control block has the published fields. A friend of the classes that change them.
struct published_places {
    published_place each[published_fields];

    static constexpr published_places of_range() noexcept {
        return {{HEADROOM_PLACE(identity.version), HEADROOM_PLACE(identity.state), HEADROOM_PLACE(identity.base),
                 HEADROOM_PLACE(identity.reserved), HEADROOM_PLACE(label), HEADROOM_PLACE(extent.committed_),
                 HEADROOM_PLACE(extent.memory_), HEADROOM_PLACE(cache.hits_), HEADROOM_PLACE(protection.allowed_),
                 HEADROOM_PLACE(creation.held), HEADROOM_PLACE(identity.next_of_all)}};
    }
};

#undef HEADROOM_PLACE

// The registry as other processes read it: see detail/published_table.hpp.
struct published_table {
    published_head head;
    published_places places;
    // The newest of all control blocks, the head of their list.
    alignas(8) std::atomic<range*> newest;
};

#if defined(__GNUC__) && !defined(__declspec)
// Hidden: the note refers to it, and a linker must not look for it in another module.
[[gnu::visibility("hidden")]]
#endif
extern published_table published_ranges;

constinit published_table published_ranges = {{"headroom-ranges", published_format, published_byte_order, sizeof(void*),
                                               sizeof(range), "v0_1", sizeof(published_table), published_fields},
                                              published_places::of_range(),
                                              {nullptr}};

static_assert(std::is_standard_layout_v<published_table> && offsetof(published_table, newest) % 8 == 0);

constinit address_table addresses;

registry_lock::registry_lock() noexcept { registry_mutex.lock(); }
registry_lock::~registry_lock() { registry_mutex.unlock(); }
void lock_registry_across_fork() noexcept { registry_mutex.lock(); }
void unlock_registry_after_fork() noexcept { registry_mutex.unlock(); }

range* first_of_all() noexcept { return published_ranges.newest.load(std::memory_order_acquire); }

range* new_control_block() noexcept {
    {
        const registry_lock guard;
        if (range* const block = unused_blocks.pop()) return block;
    }
    void* const memory = first_block_taken.exchange(1) != 0 ? std::malloc(sizeof(range)) : first_block;
    if (memory == nullptr) return nullptr;
    auto* const block = new (memory) range();
    block->identity.next_of_all = published_ranges.newest.load(std::memory_order_relaxed);
    while (!published_ranges.newest.compare_exchange_weak(block->identity.next_of_all, block, std::memory_order_release)) {}
    return block;
}

void free_control_block(range* control) noexcept {
    const registry_lock guard;
    unused_blocks.push(control);
}

namespace {

// Smaller ranges count as this large, so that there are few levels.
constexpr unsigned min_level = 21;

// Adds the range to, or removes it from, the lists of its regions.
void update_lists(range* control, bool enter) noexcept {
    const std::size_t usable = control->creation.usable;
    const auto fitting = static_cast<unsigned>(std::bit_width(usable - 1));
    const unsigned level = fitting < min_level ? min_level : fitting;
    const registry_lock guard;
    addresses.ranges.fetch_add(enter ? 1 : std::size_t(-1), std::memory_order_relaxed);
    if (enter) addresses.levels.fetch_or(std::uint64_t{1} << level, std::memory_order_release);
    const std::size_t last = region_of(control->start() + usable - 1, level);
    for (std::size_t region = region_of(control->start(), level); region <= last; ++region) {
        std::atomic<range*>* link = &list_of(region);
        std::atomic<range*>& mine = link_of(control, region);
        if (enter) {
            mine.store(link->load(std::memory_order_relaxed), std::memory_order_release);
            link->store(control, std::memory_order_release);
        } else {
            while (link->load(std::memory_order_relaxed) != control)
                link = &link_of(link->load(std::memory_order_relaxed), region);
            link->store(mine.load(std::memory_order_relaxed), std::memory_order_release);
        }
    }
    // Counted last: a reader that follows a link of this range after its reuse sees the count.
    if (!enter) addresses.removals.fetch_add(1, std::memory_order_release);
}

}    // namespace

void enter_addresses(range* control) noexcept { update_lists(control, true); }
void remove_addresses(range* control) noexcept { update_lists(control, false); }

void identity_writer::set_label(const char* text) noexcept {
    char bytes[max_name_length + 1] = {};
    if (text != nullptr)
        for (std::size_t i = 0; i < max_name_length && text[i] != '\0'; ++i) bytes[i] = text[i];
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

HEADROOM_NOTE("Headroom", "_ZN8headroom4v0_16detail16published_rangesE");
