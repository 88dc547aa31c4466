// SPDX-License-Identifier: MIT
// owner_of() and reservations(). Apart from the registry, so that only programs that use them link them.
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "range/registry.hpp"

namespace headroom { inline namespace v0_1 {
namespace {

// Copy of a control block's published fields. The string of an owner is made afterwards, because it may allocate from anywhere.
struct description {
    std::byte* base;
    std::size_t reserved;
    std::size_t committed;
    char label[detail::max_name_length + 1];

    [[nodiscard]] owner to_owner() const { return {base, reserved, committed, label}; }
};

// Reads a consistent snapshot (seqlock). False if the range is not live. Acquires each field, so that the version is read last.
bool read_description(const detail::range* control, description& result) noexcept {
    for (;;) {
        const std::uint32_t version = control->identity.version.load(std::memory_order_acquire);
        if (version % 2 != 0) continue;
        if (control->identity.state.load(std::memory_order_acquire) != detail::range_state::live) return false;
        result.base = control->identity.base.load(std::memory_order_acquire);
        result.reserved = control->identity.reserved.load(std::memory_order_acquire);
        result.committed = control->extent.committed_acquire();
        detail::copy_label(control, result.label);
        if (control->identity.version.load(std::memory_order_relaxed) == version) return true;
    }
}

bool is_in(const void* pointer, const std::byte* base, std::size_t reserved) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(base) < reserved;
}

// Describes the live range that contains the pointer. False if it finds none; it may miss one if a range is removed meanwhile.
bool find_live_range(const void* pointer, description& result) noexcept {
    for (std::uint64_t left = detail::addresses.levels.load(std::memory_order_acquire); left != 0; left &= left - 1) {
        const std::size_t region = detail::region_of(pointer, static_cast<unsigned>(std::countr_zero(left)));
        for (detail::range* each = detail::list_of(region).load(std::memory_order_acquire); each != nullptr;
             each = detail::link_of(each, region).load(std::memory_order_acquire)) {
            // Checks the address first, to avoid waiting for the writer of another range.
            if (!is_in(pointer, each->start(), each->size())) continue;
            if (read_description(each, result) && is_in(pointer, result.base, result.reserved)) return true;
        }
    }
    return false;
}

}    // namespace

std::optional<owner> owner_of(const void* pointer) {
    description found;
    for (;;) {
        // A range removed during the search may lead into another list when it is reused: then searches again.
        const std::size_t left = detail::addresses.removals.load(std::memory_order_acquire);
        if (find_live_range(pointer, found)) return found.to_owner();
        if (detail::addresses.removals.load(std::memory_order_acquire) == left) return std::nullopt;
    }
}

std::vector<owner> reservations() {
    std::vector<owner> result;
    for (const detail::range* control = detail::first_of_all(); control != nullptr; control = control->identity.next_of_all) {
        description found;
        if (read_description(control, found)) result.push_back(found.to_owner());
    }
    return result;
}

}}    // namespace headroom
