// SPDX-License-Identifier: MIT
// The containers that the differential body is run on: every way of keeping elements, times the element kinds that go
// different ways through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#include "odd/kinds.hpp"
#include "support/allocators.hpp"
#include "support/elements.hpp"
#include "support/filed.hpp"
#include "support/vectors.hpp"
#include "differential.hpp"

namespace differential {

template <class... Cs>
struct list {};

using settled_vectors =
    list<headroom::settled_vector<int>, headroom::settled_vector<std::string>, headroom::settled_vector<std::unique_ptr<int>>,
         headroom::settled_vector<headroom_test::odd_child>, headroom::settled_vector<headroom_test::throwing>,
         headroom::settled_vector<headroom_test::overaligned>, headroom::settled_vector<headroom_test::odd_value>,
         headroom::settled_vector<headroom_test::big>>;

using vectors = list<headroom_test::heap_vector<int>, headroom_test::early_vector<int>, headroom_test::early_vector<std::string>,
                     headroom_test::early_vector<std::unique_ptr<int>>, headroom_test::early_vector<headroom_test::odd_child>,
                     headroom_test::mapped_vector<headroom_test::throwing>, headroom_test::early_vector<headroom_test::opted_in>,
                     headroom_test::early_vector<headroom_test::overaligned>,
                     headroom_test::early_vector<headroom_test::odd_value>, headroom_test::mapped_vector<headroom_test::big>,
                     headroom::vector<headroom_test::throwing, headroom_test::fancy_allocator<headroom_test::throwing>>>;

// (Of some the elements seldom leave the object, of some they come and go.)
using small_vectors =
    list<headroom::small_vector<int, 8>, headroom::small_vector<int, 200, headroom_test::early_policy>,
         headroom::small_vector<std::string, 30, headroom_test::early_policy>, headroom::small_vector<std::unique_ptr<int>, 16>,
         headroom::small_vector<headroom_test::odd_child, 40>, headroom::small_vector<headroom_test::throwing, 20>,
         headroom::small_vector<headroom_test::throwing_opted_in, 20, headroom_test::mapped_policy>,
         headroom::small_vector<headroom_test::overaligned, 6>, headroom::small_vector<headroom_test::odd_value, 100>,
         headroom::small_vector<headroom_test::big, 0>>;

// (Elements of a file have no constructors that matter, so there are fewer kinds of them.)
using file_vectors = list<headroom_test::filed_again<int>, headroom_test::filed_again<headroom_test::overaligned>,
                          headroom_test::filed_again<headroom_test::three_ints>, headroom_test::filed_again<headroom_test::big>>;

// The first byte of an input says which of the containers the rest is meant for.
template <class... Cs>
std::uint64_t run_bytes(list<Cs...>, const std::uint8_t* data, std::size_t size) {
    return run_one_of<Cs...>(data, size);
}

}    // namespace differential
