// small_vector with its elements mostly inside, mostly outside, and in reservations, for suites that must hold in all.
#pragma once

#include <type_traits>

#include <headroom/small_vector.hpp>

#include "support/contract/contract.hpp"
#include "support/vectors.hpp"

namespace headroom_test {

// So few inside that the suites' containers have left; so many that they stay, or leave on the way.
template <class T>
using left_vector = headroom::small_vector<T, 2, early_policy>;
template <class T>
using staying_vector = headroom::small_vector<T, 24, early_policy>;
template <class T>
using small_mapped_vector = headroom::small_vector<T, 5, mapped_policy>;

}    // namespace headroom_test

// Elements that lie inside are elsewhere after a move.
template <class T, std::size_t N, class Policy>
    requires(N > 2)
constexpr bool moves_in_one_piece<headroom::small_vector<T, N, Policy>> = false;
template <class T, std::size_t N, class Policy>
constexpr bool moves_without_fail<headroom::small_vector<T, N, Policy>> = std::is_nothrow_move_constructible_v<T>;
