// All ranges of the process: the list of them, and which one an address belongs to.
//
// That is told by a hash table whose lists are linked through the control blocks, so that it needs no memory of its own and entering a
// range cannot fail. A range of at most 2^level bytes lies in one, or two adjacent, of the aligned pieces of 2^level bytes that the
// address space consists of. It is in the list of either piece. To look an address up is to look into one list for each level in use:
// nearly always one or two, since ranges have few sizes.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "range/range.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// A control block not in use, or null when there is no memory for one.
[[nodiscard]] range* new_control_block() noexcept;
void free_control_block(range* control) noexcept;

// The newest of all blocks that were ever made, in use or not; the others follow by next_of_all. No lock.
[[nodiscard]] range* first_of_all() noexcept;

struct address_table {
    std::atomic<std::uint64_t> levels{0};             // bit n: ranges of level n were entered; never cleared
    std::atomic<std::size_t> removals{0};             // how many ranges have left; wraps round
    std::array<std::atomic<range*>, 2048> lists{};    // each of the pieces whose numbers are so many apart
};
extern constinit address_table addresses;

[[nodiscard]] inline std::size_t piece_of(const void* pointer, unsigned level) noexcept {
    return static_cast<std::size_t>(std::uint64_t{reinterpret_cast<std::uintptr_t>(pointer)} >> level);
}
[[nodiscard]] inline std::atomic<range*>& list_of(std::size_t piece) noexcept {
    return addresses.lists[piece % addresses.lists.size()];
}
// The link that a range has in the list of a piece: adjacent pieces have different ones.
[[nodiscard]] inline std::atomic<range*>& link_of(range* control, std::size_t piece) noexcept {
    return control->next_at[piece % control->next_at.size()];
}

// Has its addresses lead to the range, and no longer. (Lookups do not find a range that is not live.)
void enter_addresses(range* control) noexcept;
void remove_addresses(range* control) noexcept;

// While it lives, its maker changes what owner_of reads of the block: base, size or label. Readers wait, for a few stores.
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

    // A new range, of which nothing is left of the last one's name.
    void set_place(std::byte* base, std::size_t reserved) noexcept {
        control_->identity.base.store(base, std::memory_order_release);
        control_->identity.reserved.store(reserved, std::memory_order_release);
        control_->label[0].store(0, std::memory_order_release);
    }
    // Cut to max_name_length bytes; null and an empty text are no name.
    void set_label(const char* text) noexcept;

private:
    range* control_;
};

// Whether the range has a name.
[[nodiscard]] inline bool is_named(const range* control) noexcept {
    return control->label[0].load(std::memory_order_relaxed) != 0;
}
// The name of the range; `to` has room for max_name_length + 1 bytes. Only for its owner.
void copy_label(const range* control, char* to) noexcept;

// Held by the registry and the cache while they change; also across fork.
extern constinit constant_mutex registry_mutex;

}}}    // namespace headroom::detail
