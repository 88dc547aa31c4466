// SPDX-License-Identifier: MIT
// The functions of both modules: each with a headroom vector and with std::vector, which must agree.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

template <class Numbers>
Numbers doubled(const Numbers& from) {
    Numbers result;
    for (const auto& x : from) result.push_back(x + x);
    return result;
}
template <class Nested>
Nested turned(Nested from) {
    Nested result;
    for (std::size_t i = from.size(); i != 0; --i) result.push_back(from[i - 1]);
    return result;
}

// `define(name, function)` registers the function under that name.
template <class Define>
void define_all(Define define) {
    define("std_ints", doubled<std::vector<int>>);
    define("vector_ints", doubled<headroom::vector<int>>);
    define("settled_ints", doubled<headroom::settled_vector<int>>);
    define("std_texts", doubled<std::vector<std::string>>);
    define("vector_texts", doubled<headroom::vector<std::string>>);
    define("settled_texts", doubled<headroom::settled_vector<std::string>>);
    define("std_nested", turned<std::vector<std::vector<double>>>);
    define("vector_nested", turned<headroom::vector<headroom::vector<double>>>);
    define("settled_nested", turned<headroom::settled_vector<headroom::settled_vector<double>>>);
}
