// Labels: no-valgrind
// (Under Valgrind the same operations run on fewer elements: construct, insert, erase, ranges.)
#include <gtest/gtest.h>

#include "support/shown_files.hpp"

using subjects = testing::Types<headroom_test::filed<int>, headroom_test::filed<headroom_test::big>>;
#include "support/contract/large.hpp"
