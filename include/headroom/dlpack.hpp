// DLPack: hands elements to NumPy, PyTorch, JAX and others as a tensor, without a copy.
//
// Choose it instead of arrow.hpp where the other library takes tensors. It costs one allocation, of constant size. The elements live until
// the other library has called the tensor's deleter, on any thread. A module that has exported a tensor is kept loaded.
#pragma once

#include <headroom/detail/language.hpp>

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/handover/dlpack_structs.hpp>
#include <headroom/frozen.hpp>

#if defined(HEADROOM_NO_EXCHANGE)
#error "this library was built without headroom::exchange: configure it with -DHEADROOM_EXCHANGE=ON"
#endif

namespace headroom { inline namespace v0_1 {
namespace detail {

template <class T>
struct dlpack_type_of {
    static constexpr bool is_number =
        (std::is_integral_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> &&
         !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>) ||
        (std::is_floating_point_v<T> && std::numeric_limits<T>::is_iec559 && sizeof(T) <= 8);
    static constexpr bool known = is_number;
    static constexpr std::uint8_t code = static_cast<std::uint8_t>(std::is_same_v<T, bool>       ? kDLBool
                                                                   : std::is_floating_point_v<T> ? kDLFloat
                                                                   : std::is_signed_v<T>         ? kDLInt
                                                                                                 : kDLUInt);
};
template <class T>
struct dlpack_type_of<std::complex<T>> {
    static constexpr bool known = std::is_floating_point_v<T> && dlpack_type_of<T>::known;
    static constexpr std::uint8_t code = kDLComplex;
};

// Throws std::invalid_argument if the shape has no extent or does not have `count` elements.
HEADROOM_API void expect_shape(std::span<const std::int64_t> shape, std::size_t count);
// Return a tensor over the elements that keeps `owner`, for the consumer's deleter to free. They check nothing. Throw std::bad_alloc.
// Precondition: the shape has as many elements as there are at `data`.
HEADROOM_API DLManagedTensorVersioned* make_tensor(const void* data, std::span<const std::int64_t> shape, DLDataType type,
                                                   share owner, bool read_only);
HEADROOM_API DLManagedTensor* make_unversioned_tensor(const void* data, std::span<const std::int64_t> shape, DLDataType type,
                                                      share owner);

template <class T>
constexpr DLDataType dlpack_type() noexcept {
    return {dlpack_type_of<T>::code, static_cast<std::uint8_t>(sizeof(T) * 8), 1};
}

}    // namespace detail

// Integers, bool, floating point, and std::complex of those.
template <class T>
concept dlpack_value = detail::dlpack_type_of<T>::known;

// Returns a tensor of the elements; the receiver calls its deleter once. With read_only false the receiver may write to them; precondition
// then: they are writable memory, and no other thread reads them meanwhile. O(1). Throws std::bad_alloc; the references to the elements
// are unchanged then. Invalidates: nothing. Thread-safe.
template <dlpack_value T>
[[nodiscard]] DLManagedTensorVersioned* to_dlpack(frozen<T> values, bool read_only = true) {
    const std::array shape{static_cast<std::int64_t>(values.size())};
    return detail::make_tensor(values.data(), shape, detail::dlpack_type<T>(), values.shared(), read_only);
}
// Like to_dlpack(), with several dimensions, the last index running fastest: {rows, columns}. Throws std::invalid_argument if the shape is
// empty or has another number of elements.
template <dlpack_value T>
[[nodiscard]] DLManagedTensorVersioned* to_dlpack(frozen<T> values, std::span<const std::int64_t> shape, bool read_only = true) {
    detail::expect_shape(shape, values.size());
    return detail::make_tensor(values.data(), shape, detail::dlpack_type<T>(), values.shared(), read_only);
}

// Like to_dlpack(), for receivers that support no later DLPack than 0.8 (NumPy before 2.1). That version cannot mark elements as
// read-only, so the receiver takes them for writable. Precondition: they are.
template <dlpack_value T>
[[nodiscard]] DLManagedTensor* to_unversioned_dlpack(frozen<T> values) {
    const std::array shape{static_cast<std::int64_t>(values.size())};
    return detail::make_unversioned_tensor(values.data(), shape, detail::dlpack_type<T>(), values.shared());
}
template <dlpack_value T>
[[nodiscard]] DLManagedTensor* to_unversioned_dlpack(frozen<T> values, std::span<const std::int64_t> shape) {
    detail::expect_shape(shape, values.size());
    return detail::make_unversioned_tensor(values.data(), shape, detail::dlpack_type<T>(), values.shared());
}

}}    // namespace headroom
