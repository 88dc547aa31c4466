// SPDX-License-Identifier: MIT
// A user's program that imports Headroom.
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>

import headroom;

struct handle {
    explicit handle(int value) : at(std::make_unique<int>(value)) {}
    std::unique_ptr<int> at;
};
template <>
struct headroom::is_trivially_relocatable<handle> : std::true_type {};
static_assert(headroom::is_trivially_relocatable_v<handle>);

int alone();

int main() {
    if (alone() != 0) return 1;
    headroom::settled_vector<std::string> settled(headroom::max_elements{1000});
    settled.emplace_back("first");
    const std::string* const first = settled.data();
    while (settled.size() < settled.max_size()) settled.push_back("another");
    if (settled.data() != first || settled.try_push_back("one too many") != nullptr) return 1;

    headroom::vector<handle> handles;
    for (int i = 0; i < 300'000; ++i) handles.emplace_back(i);
    headroom::erase_if(handles, [](const handle& h) { return *h.at % 2 == 1; });
    if (handles.size() != 150'000 || *handles[10].at != 20) return 1;

    headroom::multipool_resource pool;
    headroom::vector<int, headroom::resource_allocator<int, headroom::multipool_resource>> numbers({1, 2, 3}, &pool);
    headroom::pmr::vector<int> same({1, 2, 3}, &pool);
    auto forgotten = headroom::make_winked<std::pmr::string>(pool, "never destroyed, and longer than a short string");
    if (numbers.back() != same.back() || forgotten->size() < 20) return 1;
    if (numbers.get_allocator() != decltype(numbers)::allocator_type(&pool)) return 1;

    if (!headroom::owner_of(settled.data() + 1)) return 1;
    std::puts("ok");
}
