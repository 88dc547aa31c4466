// SPDX-License-Identifier: MIT
// Functions that read size() and elements of a container. count.cmake looks at what GCC made of them.
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

namespace {

template <class Container>
[[gnu::noinline]] int element_of(const Container& from, std::size_t index) {
    return from[index];
}
template <class Container>
[[gnu::noinline]] std::size_t size_of(const Container& from) {
    return from.size();
}

template <class Container>
std::size_t read_twice(const Container& from, std::size_t index) {
    return static_cast<std::size_t>(element_of(from, index) + element_of(from, index + 1)) + size_of(from);
}

}    // namespace

std::size_t read_all(const headroom::vector<int>& first, const headroom::settled_vector<int>& second,
                     const headroom::small_vector<int, 8>& third, std::size_t index);
std::size_t read_all(const headroom::vector<int>& first, const headroom::settled_vector<int>& second,
                     const headroom::small_vector<int, 8>& third, std::size_t index) {
    return read_twice(first, index) + read_twice(second, index) + read_twice(third, index);
}
