// SPDX-License-Identifier: MIT
#include <headroom/relocatable.hpp>
#include <headroom/vector.hpp>
#include <iostream>
#include <memory>
#include <string>

struct document {    // says so itself
    std::unique_ptr<std::string> text;
    using headroom_is_trivially_relocatable = std::true_type;
};

struct handle {    // somebody else's type: specialise
    std::unique_ptr<int> at;
    handle() = default;
    handle(handle&& other) noexcept : at(std::move(other.at)) { ++moves; }
    handle& operator=(handle&&) = default;
    static inline int moves = 0;
};
template <>
struct headroom::is_trivially_relocatable<handle> : std::true_type {};

struct node {    // points into itself: must not be moved as bytes, and is not
    node* self = this;
    node() = default;
    node(const node&) {}
    node& operator=(const node&) { return *this; }
    ~node() {}
};

int main() {
    const bool answers[] = {headroom::is_trivially_relocatable_v<int>, headroom::is_trivially_relocatable_v<document>,
                            headroom::is_trivially_relocatable_v<handle>, headroom::is_trivially_relocatable_v<node>};
    for (const bool answer : answers) std::cout << answer;
    std::cout << '\n';

    headroom::vector<handle> handles;
    for (int i = 0; i < 100'000; ++i) handles.emplace_back();    // grows many times
    std::cout << handle::moves << " moves\n";

    headroom::vector<node> nodes(3);
    nodes.emplace_back();
    std::cout << (nodes[0].self == &nodes[0] ? "sound" : "broken") << '\n';
}
