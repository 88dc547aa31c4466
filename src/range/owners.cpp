// Which range holds a pointer, and which ranges there are: for programs that ask. (Apart from the registry itself, so that
// programs that do not ask are not linked with it.)
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "range/granules.hpp"
#include "range/registry.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

range* range_at(const void* pointer) noexcept {
    const std::uint64_t at = address_number(pointer);
    if (top_index(at) >= entries) return nullptr;
    const middle* const of = granule_table[top_index(at)].load(std::memory_order_acquire);
    if (of == nullptr) return nullptr;
    if (range* const whole = of->gigabytes[middle_index(at)].load(std::memory_order_acquire)) return whole;
    const leaf* const leaf = of->leaves[middle_index(at)].load(std::memory_order_acquire);
    return leaf == nullptr ? nullptr : leaf->ranges[leaf_index(at)].load(std::memory_order_acquire);
}

}}}    // namespace headroom::detail

namespace headroom { inline namespace v0_1 {
namespace {

// What a control block says of itself. Strings are made afterwards: they may allocate, from anywhere.
struct description {
    std::byte* base;
    std::size_t reserved;
    std::size_t committed;
    char label[detail::longest_name + 1];

    [[nodiscard]] owner to_owner() const { return {base, reserved, committed, label}; }
};

// False where the range is not live. What is read is what was true at one moment: each word is read with acquire, so the
// version is read again after them all.
bool describe(const detail::range* control, description& result) noexcept {
    for (;;) {
        const std::uint32_t version = control->identity.version.load(std::memory_order_acquire);
        if (version % 2 != 0) continue;
        if (control->identity.state.load(std::memory_order_acquire) != detail::range_state::live) return false;
        result.base = control->identity.base.load(std::memory_order_acquire);
        result.reserved = control->identity.reserved.load(std::memory_order_acquire);
        result.committed = control->extent.committed.load(std::memory_order_acquire);
        detail::copy_label(control, result.label);
        if (control->identity.version.load(std::memory_order_relaxed) == version) return true;
    }
}

}    // namespace

std::optional<owner> owner_of(const void* pointer) {
    const detail::range* const control = detail::range_at(pointer);
    description found;
    if (control == nullptr || !describe(control, found)) return std::nullopt;
    const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(found.base);
    if (offset >= found.reserved) return std::nullopt;
    return found.to_owner();
}

std::vector<owner> reservations() {
    std::vector<owner> result;
    for (const detail::range* control = detail::first_of_all(); control != nullptr; control = control->identity.next_of_all) {
        description found;
        if (describe(control, found)) result.push_back(found.to_owner());
    }
    return result;
}

}}    // namespace headroom
