// SPDX-License-Identifier: MIT
// What docs/migrating.md shows, in a program that compiles and runs.
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include <iostream>
#include <memory>
#include <type_traits>
#include <vector>

namespace {

struct particle {
    double x = 0, y = 0;
};

struct handle {
    using headroom_is_trivially_relocatable = std::true_type;
    // ...
};
static_assert(headroom::is_trivially_relocatable<handle>::value);

std::size_t from_std_vector() {
    headroom::vector<int> v;    // was: std::vector<int> v;
    v.push_back(1);
    return v.size();
}

std::size_t there_and_back(const std::vector<int>& old) {
    headroom::vector<int> v(headroom::from_range, old);    // or v.assign_range(old)
    std::vector<int> back(v.begin(), v.end());
    return back.size();
}

std::size_t settled() {
    headroom::settled_vector<particle> particles;                                 // up to 4 GiB
    headroom::settled_vector<particle> few(headroom::max_elements{1'000'000});    // exactly so many
    return few.max_size() + particles.size();
}

struct by_half : headroom::vector_policy {
    using growth = headroom::geometric<3, 2>;
};

std::size_t from_fbvector() {
    headroom::vector<int, std::allocator<int>, by_half> v;
    v.resize(7);
    return v.size();
}

}    // namespace

int main() {
    std::cout << from_std_vector() << ' ' << there_and_back({1, 2, 3}) << ' ' << settled() << ' ' << from_fbvector() << '\n';
}
