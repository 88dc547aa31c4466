// std::vector is a subject too: it proves the tests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/vectors.hpp"

namespace t = headroom_test;

#if defined(_LIBCPP_VERSION)    // whose own max_size() is more than memory could address
using standard = headroom::vector<long>;
#else
using standard = std::vector<std::string>;
#endif
using subjects = testing::Types<standard, headroom::vector<int>, headroom::vector<t::big>, t::mapped_vector<std::string>,
                                t::early_vector<t::overaligned>>;
#include "contract_access.hpp"
