// SPDX-License-Identifier: MIT
// small_vector with elements mostly inline, mostly on the heap, and in reservations, for suites that hold for all.
#pragma once

#include <type_traits>

#include <headroom/small_vector.hpp>

#include "support/contract/contract.hpp"
#include "support/vectors.hpp"

namespace headroom_test {

// left_vector: two inline elements, so that most tests leave inline storage. staying_vector: 24, so that they stay or leave
// midway.
template <class T>
using left_vector = headroom::small_vector<T, 2, early_policy>;
template <class T>
using staying_vector = headroom::small_vector<T, 24, early_policy>;
template <class T>
using small_mapped_vector = headroom::small_vector<T, 5, mapped_policy>;

}    // namespace headroom_test

// A move relocates inline elements.
template <class T, std::size_t N, class Policy>
    requires(N > 2)
constexpr bool moves_in_one_piece<headroom::small_vector<T, N, Policy>> = false;
template <class T, std::size_t N, class Policy>
constexpr bool moves_without_fail<headroom::small_vector<T, N, Policy>> = std::is_nothrow_move_constructible_v<T>;
