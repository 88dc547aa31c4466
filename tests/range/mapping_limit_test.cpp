// SPDX-License-Identifier: MIT
// Reservations leave mappings to the rest of the process: at their limit a vector uses the heap, what needs a reservation throws, and malloc
// and threads live on.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <cstdlib>
#include <list>
#include <memory_resource>
#include <new>
#include <string>
#include <thread>

#include <headroom/headroom.hpp>

namespace {

constexpr std::size_t most = 40;       // mappings: 20 ranges, for which 32-bit programs have addresses
constexpr std::size_t objects = 60;    // made at most

class mapping_limit : public testing::Test {
protected:
    void SetUp() override {
        headroom::trim_cache();
        headroom::set_mapping_limit(most);
    }
    void TearDown() override { headroom::set_mapping_limit(usual_); }

private:
    std::size_t usual_ = headroom::mapping_limit();
};

// Makes objects until one is refused, at most `objects`. Returns how many there were.
template <class Make>
std::size_t count_until_refused(Make make) {
    std::list<decltype(make())> all;
    try {
        while (all.size() != objects) all.push_back(make());
    } catch (const std::bad_alloc&) {}
    void* volatile const block = std::malloc(std::size_t{1} << 20);
    EXPECT_NE(block, nullptr);
    std::free(block);
    std::thread([] {}).join();
    return all.size();
}

TEST_F(mapping_limit, refuses_reservations) {
    EXPECT_LE(count_until_refused([] { return headroom::reservation(std::size_t{1} << 20); }), most / 2);
}

TEST_F(mapping_limit, refuses_settled_and_concurrent_vectors) {
    EXPECT_LE(count_until_refused([] { return headroom::settled_vector<int>(10); }), most / 2);
    EXPECT_LE(count_until_refused([] { return headroom::settled_vector<std::string>(10); }), most / 2);
    EXPECT_LE(count_until_refused([] {
                  auto made = std::make_unique<headroom::concurrent_vector<int>>();
                  made->push_back(1);
                  return made;
              }),
              most / 2);
}

// A range with huge pages in a part takes as many mappings again.
TEST_F(mapping_limit, counts_parts_with_huge_pages) {
    if (headroom::huge_page_size() != std::size_t{2} << 20 || sizeof(void*) < 8) GTEST_SKIP() << "no huge pages of 2 MiB here";
    EXPECT_LE(count_until_refused([] { return headroom::settled_vector<char>(std::size_t{5} << 20); }), most / 4);
    EXPECT_GT(count_until_refused([] { return headroom::settled_vector<char>(10); }), most / 4);
}

TEST_F(mapping_limit, lets_vectors_use_the_heap) {
    EXPECT_EQ(count_until_refused([] { return headroom::vector<char>(std::size_t{1} << 20, 'x'); }), objects);
    EXPECT_EQ(count_until_refused([] {
                  headroom::vector<int> grown;
                  for (int i = 0; i != 300'000; ++i) grown.push_back(i);
                  return grown;
              }),
              objects);
    EXPECT_EQ(count_until_refused([] { return headroom::small_vector<std::string, 4>(40'000); }), objects);
}

TEST_F(mapping_limit, lets_resources_use_their_upstream) {
    EXPECT_EQ(count_until_refused([] {
                  auto made = std::make_unique<headroom::multipool_resource>();
                  (void)made->allocate(1 << 20);
                  return made;
              }),
              objects);
    EXPECT_EQ(count_until_refused([] {
                  auto made = std::make_unique<headroom::monotonic_resource>();
                  (void)made->allocate(1 << 20);
                  return made;
              }),
              objects);
}

TEST_F(mapping_limit, is_named_by_the_exception) {
    std::list<headroom::reservation> all;
    try {
        for (;;) all.emplace_back(std::size_t{1} << 20);
    } catch (const headroom::refused& error) {
        EXPECT_NE(std::string(error.what()).find("set_mapping_limit"), std::string::npos) << error.what();
    }
}

TEST_F(mapping_limit, can_be_raised_and_lowered) {
    headroom::set_mapping_limit(0);
    EXPECT_THROW(headroom::reservation(std::size_t{1} << 20), headroom::refused);
    headroom::set_mapping_limit(2 * most);
    EXPECT_EQ(headroom::mapping_limit(), 2 * most);
    EXPECT_GT(count_until_refused([] { return headroom::reservation(std::size_t{1} << 20); }), most / 2);
}

}    // namespace
