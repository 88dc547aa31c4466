// Labels: core
// With all warnings as errors, std::vector, in a system header, does not warn of the program's lossy conversions and signed
// comparisons. Nor do headroom's containers.
#if defined(__GNUC__)
#pragma GCC diagnostic error "-Wconversion"
#pragma GCC diagnostic error "-Wsign-conversion"
#pragma GCC diagnostic error "-Wfloat-conversion"
#pragma GCC diagnostic error "-Wdouble-promotion"
#pragma GCC diagnostic error "-Wsign-compare"
#pragma GCC diagnostic error "-Wfloat-equal"
#pragma GCC diagnostic error "-Wold-style-cast"
#pragma GCC diagnostic error "-Wcast-qual"
#pragma GCC diagnostic error "-Wundef"
#pragma GCC diagnostic error "-Wextra-semi"
#pragma GCC diagnostic error "-Wredundant-decls"
#pragma GCC diagnostic error "-Wnon-virtual-dtor"
#pragma GCC diagnostic error "-Woverloaded-virtual"
#pragma GCC diagnostic error "-Wmissing-declarations"
#pragma GCC diagnostic error "-Wswitch-enum"
#if !defined(__clang__)
#if __SIZEOF_POINTER__ == 8    // casts to 32 bits are useless on other systems
#pragma GCC diagnostic error "-Wuseless-cast"
#endif
#pragma GCC diagnostic error "-Wcast-align=strict"
#pragma GCC diagnostic error "-Wlogical-op"
#pragma GCC diagnostic error "-Wduplicated-cond"
#pragma GCC diagnostic error "-Wduplicated-branches"
#endif
#endif

#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_table.hpp>
#include <headroom/frozen.hpp>
#include <headroom/headroom.hpp>

#include <cstddef>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "odd/every_operation.hpp"

namespace {

// Every way to convert a number into an element of another type.
template <class Container>
void lossy_conversions() {
    using T = typename Container::value_type;
    const double reals[] = {1.5, 2.5};
    const long integers[] = {1, 2};
    Container v;
    v.emplace_back(1.5);
    v.emplace_back(2L);
    v.emplace_back(3U);
    v.emplace_back(4.5F);
    v.emplace_back('5');
    v.try_emplace_back(6L);
    v.reserve(10);
    v.unchecked_emplace_back(7L);
    v.emplace(v.begin(), 8.5);
    v.emplace(v.begin(), 9L);
    v.insert(v.begin(), reals, reals + 2);
    v.insert(v.end(), integers, integers + 2);
    v.insert_range(v.begin(), integers);
    v.append_range(reals);
    v.assign(reals, reals + 2);
    v.assign_range(integers);
    const Container of_reals(reals, reals + 2);
    const Container of_integers(headroom::from_range, integers);
    EXPECT_EQ(headroom::erase(v, 2U), 1U);
    EXPECT_EQ(headroom::erase(v, 1L), 1U);
    EXPECT_EQ(headroom::erase(v, 1.5F), 0U);
    EXPECT_EQ(std::to_string(of_reals.front()), std::to_string(static_cast<T>(1.5)));
    EXPECT_TRUE(of_integers == of_integers);
    for (int n = 0; n != 1000; ++n) v.emplace_back(static_cast<long>(n));
    EXPECT_EQ(v.size(), 1000U);
}
TEST(strict_warnings, lossy_conversions_are_the_programs_matter) {
    lossy_conversions<headroom::vector<int>>();
    lossy_conversions<headroom::vector<unsigned>>();
    lossy_conversions<headroom::vector<float>>();
    lossy_conversions<headroom::settled_vector<int>>();
    lossy_conversions<headroom::small_vector<int, 4>>();
    lossy_conversions<headroom::settled_vector<unsigned>>();
    lossy_conversions<headroom::settled_vector<float>>();
    headroom::concurrent_vector<short> shared;
    shared.emplace_back(1L);
    const double reals[] = {1.5, 2.5};
    shared.append_range(reals);
    {
        headroom::concurrent_vector<short>::appender appender(shared);
        appender.emplace_back(4L);
    }
    EXPECT_EQ(shared.size(), 4U);
}

TEST(strict_warnings, every_operation) {
    const auto number = [](int n) { return n; };
    headroom_test::every_operation<headroom::vector<int>>(number, number);
    headroom_test::every_operation<headroom::settled_vector<int>>(number, number);
    headroom_test::every_operation<headroom::small_vector<int, 4>>(number, number);
    headroom::multipool_resource pool;
    headroom::monotonic_resource memory(&pool);
    using bound = headroom::resource_allocator<std::string, headroom::monotonic_resource>;
    headroom::vector<std::string, bound> texts{bound(&memory)};
    for (int n = 0; n != 100; ++n) texts.push_back(std::to_string(n));
    EXPECT_EQ(texts.back(), "99");
    headroom::arena arena(std::size_t{1} << 20);
    EXPECT_NE(arena.allocate(8, 8), nullptr);
    EXPECT_EQ(headroom::freeze(headroom::settled_vector<int>(3)).size(), 3U);
    headroom::synchronized_multipool_resource shared;
    shared.deallocate(shared.allocate(8, 8), 8, 8);
}

}    // namespace
