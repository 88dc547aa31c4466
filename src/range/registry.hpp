// All ranges of the process: which one a pointer comes from, and the list of them.
#pragma once

#include <headroom/reservation.hpp>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// A control block not in use, or null when there is no memory for one.
[[nodiscard]] range* new_control_block() noexcept;
void free_control_block(range* control) noexcept;

// The newest of all blocks that were ever made, in use or not; the others follow by next_of_all. No lock.
[[nodiscard]] range* first_of_all() noexcept;

// Has its addresses lead to the range, and no longer. (Lookups do not find a range that is not live.)
void enter_addresses(range* control) noexcept;
void leave_addresses(range* control) noexcept;

// While it lives, its maker changes what owner_of reads of the block: base, size or label. Readers wait, for a few stores.
class rewriting {
public:
    explicit rewriting(range* control) noexcept : control_(control) {
        control_->identity.version.store(control_->identity.version.load(std::memory_order_relaxed) + 1,
                                         std::memory_order_relaxed);
    }
    ~rewriting() {
        control_->identity.version.store(control_->identity.version.load(std::memory_order_relaxed) + 1,
                                         std::memory_order_release);
    }
    rewriting(const rewriting&) = delete;
    rewriting& operator=(const rewriting&) = delete;

    void place(std::byte* base, std::size_t reserved) noexcept;
    // Takes the name away.
    void unlabel() noexcept { control_->label[0].store(0, std::memory_order_release); }
    // Cut to longest_name bytes; null and an empty text are no name.
    void label(const char* text) noexcept;

private:
    range* control_;
};

// Whether the range has a name.
[[nodiscard]] inline bool is_named(const range* control) noexcept {
    return control->label[0].load(std::memory_order_relaxed) != 0;
}
// The name of the range; `to` has room for longest_name + 1 bytes. Only for its owner.
void copy_label(const range* control, char* to) noexcept;

// Held by the registry and the cache while they change; also across fork.
void lock_registry() noexcept;
void unlock_registry() noexcept;

struct registry_guard {
    registry_guard() noexcept { lock_registry(); }
    ~registry_guard() { unlock_registry(); }
    registry_guard(const registry_guard&) = delete;
    registry_guard& operator=(const registry_guard&) = delete;
};

}}}    // namespace headroom::detail
