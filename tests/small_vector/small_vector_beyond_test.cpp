// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>

#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::left_vector<int>, t::staying_vector<std::unique_ptr<int>>, t::staying_vector<t::throwing>,
                                t::left_vector<t::opted_in>, t::small_mapped_vector<t::big>>;
#include "support/contract/beyond.hpp"
