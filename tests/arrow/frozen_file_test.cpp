// SPDX-License-Identifier: MIT
// Labels: posix
// freeze(file_vector): file and elements stay in place until the last share is destroyed.
#include <headroom/arrow.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/frozen.hpp>

#include "support/scratch_folder.hpp"

namespace {

using headroom::testing_support::scratch_folder;

template <class T>
class frozen_file : public testing::Test {};
using kinds = testing::Types<std::int8_t, std::int32_t, std::int64_t, double>;
TYPED_TEST_SUITE(frozen_file, kinds);

template <class T>
headroom::file_vector<T> filled(const std::string& path) {
    auto made = headroom::file_vector<T>::create(path, headroom::max_elements{10'000});
    for (int i = 0; i < 1000; ++i) made.push_back(static_cast<T>(i % 100));
    return made;
}

TYPED_TEST(frozen_file, is_exported_where_it_is_mapped_and_committed_with_the_last_share) {
    const scratch_folder folder;
    auto file = filled<TypeParam>(folder.file("column"));
    const TypeParam* const where = file.data();
    ArrowArray array{};
    {
        const headroom::frozen<TypeParam> shared = headroom::freeze(std::move(file));
        EXPECT_EQ(shared.data(), where);
        headroom::export_arrow(shared, 1000, &array, nullptr);
    }
    EXPECT_FALSE(file.is_open());
    EXPECT_EQ(array.buffers[1], where);
    EXPECT_EQ(static_cast<const TypeParam*>(array.buffers[1])[999], TypeParam{99});
    EXPECT_TRUE(headroom::owner_of(where));
    array.release(&array);
    EXPECT_FALSE(headroom::owner_of(where));
    const auto again = headroom::file_vector<TypeParam>::open(folder.file("column"), headroom::file_access::read_only,
                                                              headroom::max_elements{10'000});
    EXPECT_EQ(again.size(), 1000U);
}

TYPED_TEST(frozen_file, a_reader_s_is_shared_too) {
    const scratch_folder folder;
    filled<TypeParam>(folder.file("column")).close();
    const headroom::frozen<TypeParam> shared = headroom::freeze(headroom::file_vector<TypeParam>::open(
        folder.file("column"), headroom::file_access::read_only, headroom::max_elements{10'000}));
    EXPECT_EQ(shared.size(), 1000U);
    EXPECT_EQ(shared[999], TypeParam{99});
}

}    // namespace
