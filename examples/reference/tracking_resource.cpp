// SPDX-License-Identifier: MIT
#include <headroom/tracking.hpp>
#include <iostream>
#include <string_view>
#include <vector>

int main() {
    headroom::tracking_resource tracked("the parser");
    tracked.report_to([](void*, const char* message) {    // "the parser: wrong size: block 0x55... has 100 bytes and ..."
        std::cout << std::string_view(message).substr(0, 22) << "...\n";
    });
    {
        std::pmr::vector<int> numbers(&tracked);
        numbers.reserve(10);
        numbers.reserve(100);
    }
    const headroom::tracking_statistics counts = tracked.statistics();
    std::cout << counts.blocks << " blocks now, " << counts.total_blocks << " ever, " << counts.peak_bytes << " bytes at most\n";

    void* const block = tracked.allocate(100);
    tracked.deallocate(block, 50);    // reported, counted, and not passed on
    std::cout << tracked.statistics().wrong_sizes << " wrong size\n";
    tracked.deallocate(block, 100);
}
