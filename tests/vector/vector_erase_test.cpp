// std::vector is a subject too: it proves the tests.
#include <gtest/gtest.h>

#include <vector>

#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::standard_vector<t::self_referential>, headroom::vector<int>, headroom::vector<t::opted_in>,
                                t::mapped_vector<t::throwing>, headroom::vector<int, t::fancy_allocator<int>>>;
#include "support/contract/erase.hpp"
