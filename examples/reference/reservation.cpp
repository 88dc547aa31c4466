// SPDX-License-Identifier: MIT
#include <headroom/reservation.hpp>
#include <cstring>
#include <iostream>
#include <utility>

int main() {
    headroom::reservation range(std::size_t{1} << 30);    // a gibibyte of addresses, and no memory
    range.name("a log");
    if (const std::error_code error = range.commit_to(11)) return error.value();    // at least the first 11 bytes
    std::memcpy(range.data(), "hello there", 11);

    const auto whose = headroom::owner_of(range.data() + 5);
    std::cout << whose->name << ": " << whose->reserved << " bytes reserved\n";

    headroom::reservation taken = std::move(range);    // the bytes stay where they are
    std::cout << std::string(reinterpret_cast<const char*>(taken.data()), 11) << '\n';
    std::cout << (headroom::owner_of(&taken) ? "ours" : "not ours") << '\n';

    taken.decommit_from(0);    // the memory goes back; the addresses stay
    std::cout << taken.committed() << " bytes committed\n";
    std::cout << taken.commit_to(std::size_t{2} << 30).message() << '\n';
}
