// SPDX-License-Identifier: MIT
// A user's program: uses all that consumer projects need, through the linker too. Must also compile without exceptions and RTTI.
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

int main() {
    headroom::settled_vector<std::string> settled(headroom::max_elements{100'000});
    settled.emplace_back("first");
    const std::string* const first = settled.data();
    while (settled.size() < settled.max_size()) settled.push_back("another");
    if (settled.data() != first || settled.try_push_back("one too many") != nullptr) return 1;

    headroom::vector<std::unique_ptr<int>> numbers;
    for (int i = 0; i < 1'000'000; ++i) numbers.push_back(std::make_unique<int>(i));
    numbers.erase(numbers.begin() + 10, numbers.begin() + 20);
    if (*numbers[10] != 20) return 1;

    const auto found = headroom::owner_of(settled.data() + 1);
    if (!found || found->base != static_cast<const void*>(settled.data())) return 1;
    std::puts("ok");
}
