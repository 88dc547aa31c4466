// SPDX-License-Identifier: MIT
#include <headroom/reservation.hpp>
#include <headroom/tracking.hpp>

#include <cstddef>

// Reserves more than the address space: throws.
__attribute__((visibility("default"))) void refuse() { headroom::reservation range(std::size_t{1} << 62); }

__attribute__((visibility("default"))) bool is_ours(const void* pointer) { return headroom::owner_of(pointer).has_value(); }

// A class with virtual functions in the library, used from hidden code.
__attribute__((visibility("default"))) bool tracks() {
    headroom::tracking_resource tracked;
    void* const block = static_cast<std::pmr::memory_resource&>(tracked).allocate(10, 1);
    const bool counted = tracked.statistics().blocks == 1;
    tracked.deallocate(block, 10, 1);
    return counted;
}
