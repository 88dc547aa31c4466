// SPDX-License-Identifier: MIT
#include <headroom/pages.hpp>
#include <iostream>

int main() {
    std::error_code error;
    const std::size_t page = headroom::page_size();
    const headroom::page_range range = headroom::reserve(1024 * page, page, error);
    if (error) return 1;

    const headroom::page_range first{range.data, 2 * page};
    if (headroom::commit(first)) return 1;
    first.data[0] = std::byte{42};
    if (headroom::protect(first, headroom::access::read_only)) return 1;    // a write would fault now
    std::cout << std::to_integer<int>(first.data[0]) << '\n';

    if (headroom::protect(first, headroom::access::read_write) || headroom::discard(first)) return 1;
    std::cout << std::to_integer<int>(first.data[0]) << '\n';    // memory given back reads as zero
    return headroom::release(range) ? 1 : 0;
}
