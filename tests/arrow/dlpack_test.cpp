// SPDX-License-Identifier: MIT
// One-dimensional DLPack tensors over shared elements.
#include <headroom/dlpack.hpp>

#include <array>
#include <vector>
#include <stdexcept>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include <complex>

namespace {

template <class T>
class tensor_of : public testing::Test {};
using kinds = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::int64_t, std::uint64_t, float, double, bool,
                             std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(tensor_of, kinds);

template <class T>
constexpr int code() {
    if (std::is_same_v<T, bool>) return kDLBool;
    if (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) return kDLComplex;
    if (std::is_floating_point_v<T>) return kDLFloat;
    return std::is_signed_v<T> ? kDLInt : kDLUInt;
}

template <class T>
void expect_describes(const DLTensor& tensor, const T* where, std::int64_t count) {
    EXPECT_EQ(tensor.data, where);
    EXPECT_EQ(tensor.ndim, 1);
    EXPECT_EQ(tensor.shape[0], count);
    EXPECT_EQ(tensor.strides[0], 1);
    EXPECT_EQ(tensor.byte_offset, 0U);
    EXPECT_EQ(tensor.device.device_type, kDLCPU);
    EXPECT_EQ(tensor.dtype.code, code<T>());
    EXPECT_EQ(tensor.dtype.bits, sizeof(T) * 8);
    EXPECT_EQ(tensor.dtype.lanes, 1);
}

TYPED_TEST(tensor_of, shows_the_elements_where_they_lie) {
    const auto shared = headroom::freeze(headroom::settled_vector<TypeParam>(100));
    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared);
    expect_describes(tensor->dl_tensor, shared.data(), 100);
    EXPECT_EQ(tensor->version.major, 1U);
    EXPECT_EQ(tensor->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    tensor->deleter(tensor);
    DLManagedTensor* const old = headroom::to_unversioned_dlpack(shared);
    expect_describes(old->dl_tensor, shared.data(), 100);
    old->deleter(old);
}

TYPED_TEST(tensor_of, keeps_the_elements_until_it_is_deleted) {
    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(headroom::freeze(headroom::settled_vector<TypeParam>(100)));
    EXPECT_TRUE(headroom::owner_of(tensor->dl_tensor.data));
    const void* const where = tensor->dl_tensor.data;
    tensor->deleter(tensor);
    EXPECT_FALSE(headroom::owner_of(where));
}

TYPED_TEST(tensor_of, says_when_it_may_be_written_to) {
    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(headroom::freeze(headroom::settled_vector<TypeParam>(1)), false);
    EXPECT_EQ(tensor->flags, 0U);
    *static_cast<TypeParam*>(tensor->dl_tensor.data) = TypeParam{1};
    tensor->deleter(tensor);
}

TYPED_TEST(tensor_of, may_have_no_elements) {
    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(headroom::frozen<TypeParam>());
    EXPECT_EQ(tensor->dl_tensor.shape[0], 0);
    tensor->deleter(tensor);
}

TYPED_TEST(tensor_of, may_have_several_dimensions) {
    auto vector = headroom::settled_vector<TypeParam>(24);
    const auto shared = headroom::freeze(std::move(vector));
    const std::array<std::int64_t, 3> shape{2, 3, 4};
    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared, shape);
    DLManagedTensor* const old = headroom::to_unversioned_dlpack(shared, shape);
    for (const DLTensor& each : {tensor->dl_tensor, old->dl_tensor}) {
        ASSERT_EQ(each.ndim, 3);
        EXPECT_EQ(each.data, shared.data());
        EXPECT_EQ(std::vector(each.shape, each.shape + 3), (std::vector<std::int64_t>{2, 3, 4}));
        EXPECT_EQ(std::vector(each.strides, each.strides + 3), (std::vector<std::int64_t>{12, 4, 1}));
    }
    tensor->deleter(tensor);
    old->deleter(old);
}

TEST(tensor, is_of_as_many_elements_as_its_shape_says) {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    const std::vector<std::int64_t> wrong[] = {{}, {23}, {2, 3, 5}, {-24}, {-1, -24}, {huge, huge, 24}, {4, 6, 0}, {huge, 4, 24}};
    const auto shared = headroom::freeze(headroom::settled_vector<int>(24));
    for (const auto& shape : wrong) {
        EXPECT_THROW(static_cast<void>(headroom::to_dlpack(shared, shape)), std::invalid_argument);
        EXPECT_THROW(static_cast<void>(headroom::to_unversioned_dlpack(shared, shape)), std::invalid_argument);
    }
    DLManagedTensorVersioned* const none = headroom::to_dlpack(headroom::frozen<int>(), std::vector<std::int64_t>{0, huge, huge});
    EXPECT_EQ(none->dl_tensor.ndim, 3);
    none->deleter(none);
}

TEST(tensor, is_of_numbers) {
    static_assert(!headroom::dlpack_value<char>);
    static_assert(!headroom::dlpack_value<std::string>);
    static_assert(!headroom::dlpack_value<int*>);
    static_assert(!headroom::dlpack_value<std::complex<int>>);
    static_assert(sizeof(long double) == 8 || !headroom::dlpack_value<long double>);
}

}    // namespace
