#include <gtest/gtest.h>

#include <string>

#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<headroom::vector<int>, headroom::vector<std::string>,
                                t::mapped_vector<t::self_referential>,
                                headroom::vector<t::opted_in, t::minimal_allocator<t::opted_in>>>;
#include "contract_ranges.hpp"
