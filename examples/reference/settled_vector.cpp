// SPDX-License-Identifier: MIT
#include <headroom/settled_vector.hpp>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

int main() {
    headroom::settled_vector<std::string> names(headroom::max_elements{1000});
    names.push_back("Ada");
    const std::string_view first = names.front();    // a view into an element: it will not move
    while (names.try_push_back("somebody") != nullptr) {}
    std::cout << first << " and " << names.size() - 1 << " others\n";

    try {
        names.push_back("one too many");
    } catch (const std::length_error&) {
        std::cout << "full at " << names.max_size() << '\n';
    }
    {
        const headroom::scoped_access locked(names, headroom::access::read_only);    // a write would fault here
        std::cout << names.back() << '\n';
    }
    names.back() = "somebody else";
    names.rehome(headroom::max_elements{2000});    // the one operation that moves elements: `first` is stale now
    std::cout << names.max_size() << ' ' << names.back() << '\n';
}
