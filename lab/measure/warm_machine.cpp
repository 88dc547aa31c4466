// SPDX-License-Identifier: MIT
#include "measure/warm_machine.hpp"

#include <cstddef>

#include <headroom/pages.hpp>

namespace headroom::lab {

void warm_machine(std::uint64_t bytes) {
    constexpr std::size_t block = std::size_t{2} << 20;
    std::error_code error;
    const page_range range = reserve(static_cast<std::size_t>(bytes), block, error, access::read_write);
    if (error) return;
    (void)advise_huge(range);
    const std::size_t page = page_size();
    // volatile: keeps stores that nothing reads.
    volatile std::byte* const data = range.data;
    for (std::size_t at = 0; at < range.bytes; at += page) data[at] = std::byte{1};
    (void)release(range);
}

}    // namespace headroom::lab
