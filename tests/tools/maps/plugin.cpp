// SPDX-License-Identifier: MIT
// A library that contains its own copy of Headroom.
#include <headroom/reservation.hpp>

extern "C" [[gnu::visibility("default")]] void make_range() {
    static headroom::reservation range(std::size_t{8} << 20);
    if (range.commit_to(1)) return;
    range.data()[0] = std::byte{1};
    range.name("of the plugin");
}
