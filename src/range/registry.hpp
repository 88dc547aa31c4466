// Registry of all ranges of the process: the list of their control blocks, and the table that finds a range by address. The table is a
// hash table whose lists are linked through the control blocks, so that it needs no memory and entering a range cannot fail. Level n
// divides the address space into aligned regions of 2^n bytes. A range of at most 2^n bytes is in one region or two adjacent ones, and in
// the list of each. A lookup searches one list for each level in use: nearly always one or two.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "component_api.hpp"
#include "range/control_block.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Returns an unused control block, null if there is no memory for one.
[[nodiscard]] range* new_control_block() noexcept;
void free_control_block(range* control) noexcept;

// Returns the newest of all control blocks, used or not; the others follow by next_of_all. Takes no lock.
[[nodiscard]] range* first_of_all() noexcept;

struct address_table {
    std::atomic<std::uint64_t> levels{0};             // bit n: ranges of level n were entered; never cleared
    std::atomic<std::size_t> removals{0};             // number of removals; wraps
    std::atomic<std::size_t> ranges{0};               // number of ranges in it
    std::array<std::atomic<range*>, 2048> lists{};    // region number modulo 2048
};
extern constinit address_table addresses;

[[nodiscard]] inline std::size_t region_of(const void* pointer, unsigned level) noexcept {
    return static_cast<std::size_t>(std::uint64_t{reinterpret_cast<std::uintptr_t>(pointer)} >> level);
}
[[nodiscard]] inline std::atomic<range*>& list_of(std::size_t region) noexcept {
    return addresses.lists[region % addresses.lists.size()];
}
// Returns a range's link in the list of a region: adjacent regions have different ones.
[[nodiscard]] inline std::atomic<range*>& link_of(range* control, std::size_t region) noexcept {
    return control->next_at[region % control->next_at.size()];
}

// Enter a range into the address table, and remove it. Lookups skip ranges that are not live.
void enter_addresses(range* control) noexcept;
void remove_addresses(range* control) noexcept;

// Scope guard: makes the block's version odd while the caller changes base, size or label. Readers wait meanwhile.
class identity_writer {
public:
    explicit identity_writer(range* control) noexcept : control_(control) {
        control_->identity.version.store(control_->identity.version.load(std::memory_order_relaxed) + 1,
                                         std::memory_order_relaxed);
    }
    ~identity_writer() {
        control_->identity.version.store(control_->identity.version.load(std::memory_order_relaxed) + 1,
                                         std::memory_order_release);
    }
    identity_writer(const identity_writer&) = delete;
    identity_writer& operator=(const identity_writer&) = delete;

    // Sets base and size of a new range, without a name.
    void set_base_and_size(std::byte* base, std::size_t reserved) noexcept {
        control_->identity.base.store(base, std::memory_order_release);
        control_->identity.reserved.store(reserved, std::memory_order_release);
        control_->label[0].store(0, std::memory_order_release);
    }
    // Sets the size for another owner.
    void set_size(std::size_t reserved) noexcept { control_->identity.reserved.store(reserved, std::memory_order_release); }
    // Sets the name, cut to max_name_length bytes; null or empty removes it.
    HEADROOM_FOR_COMPONENTS void set_label(const char* text) noexcept;

private:
    range* control_;
};

// True if the range has a name.
[[nodiscard]] inline bool is_named(const range* control) noexcept {
    return control->label[0].load(std::memory_order_relaxed) != 0;
}
// Copies the name to `to`, which holds max_name_length + 1 bytes. For the range's owner, or a reader that checks the version
// afterwards.
HEADROOM_FOR_COMPONENTS void copy_label(const range* control, char* to) noexcept;

// Holds the registry's lock until its end. Functions that require the lock take it as an argument. It guards the address table,
// the unused control blocks and the cache's lists; new blocks are entered without it. Taken across fork. A range's mutex is locked before
// it; under it only by an attempt.
class registry_lock {
public:
    registry_lock() noexcept;
    ~registry_lock();
    registry_lock(const registry_lock&) = delete;
    registry_lock& operator=(const registry_lock&) = delete;
};
// Lock and unlock it in a fork handler.
void lock_registry_across_fork() noexcept;
void unlock_registry_after_fork() noexcept;

}}}    // namespace headroom::detail
