// SPDX-License-Identifier: MIT
#include <headroom/multipool.hpp>
#include <headroom/resource_allocator.hpp>
#include <headroom/vector.hpp>
#include <iostream>
#include <string>

using pool = headroom::multipool_resource;
template <class T>
using in_pool = headroom::resource_allocator<T, pool>;
using text = std::basic_string<char, std::char_traits<char>, in_pool<char>>;

int main() {
    pool memory;
    headroom::vector<text, in_pool<text>> texts(&memory);            // an allocator is made from the resource's address
    texts.emplace_back("a string of more than a few characters");    // the string gets the same allocator
    std::cout << (texts.front().get_allocator().resource() == &memory) << '\n';

    const headroom::vector<text, in_pool<text>> copy = texts;    // a copy passes the resource on
    std::cout << (copy.get_allocator() == texts.get_allocator()) << ' ' << copy.front() << '\n';
}
