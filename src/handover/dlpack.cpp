// SPDX-License-Identifier: MIT
#include <headroom/dlpack.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "handover/keep_loaded.hpp"
#include "throwing.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// A tensor with its owner, in one block with the shape and then the strides, in elements.
template <class Managed>
struct owned_tensor {
    Managed tensor{};
    share owner;

    [[nodiscard]] std::int64_t* extents() noexcept { return reinterpret_cast<std::int64_t*>(this + 1); }
};

template <class Managed>
void delete_tensor(Managed* tensor) noexcept {
    auto* const block = static_cast<owned_tensor<Managed>*>(tensor->manager_ctx);
    const share last = std::move(block->owner);    // destroyed last: the program's destructors run when the tensor is gone
    block->~owned_tensor();
    ::operator delete(block);
}

// Allocates a tensor that owns a reference to the elements, and keeps the module of its deleter loaded. Throws std::bad_alloc.
template <class Managed>
Managed* make_owned_tensor(const void* data, std::span<const std::int64_t> shape, DLDataType type, share owner) {
    keep_module_loaded_once(reinterpret_cast<const void*>(&delete_tensor<Managed>));
    if (const shared_owner* const what = owner.get()) keep_module_loaded_once(reinterpret_cast<const void*>(what->destroy));
    static_assert(sizeof(owned_tensor<Managed>) % alignof(std::int64_t) == 0);
    void* const place = ::operator new(sizeof(owned_tensor<Managed>) + shape.size() * 2 * sizeof(std::int64_t));
    auto* const block = ::new (place) owned_tensor<Managed>;
    std::int64_t* const extents = std::copy(shape.begin(), shape.end(), block->extents());
    std::uint64_t stride = 1;                         // extents without elements may be anything
    for (std::size_t i = shape.size(); i-- > 0;) {    // the last index runs fastest
        extents[i] = static_cast<std::int64_t>(stride);
        stride *= static_cast<std::uint64_t>(shape[i]);
    }
    block->owner = std::move(owner);
    block->tensor.manager_ctx = block;
    block->tensor.deleter = &delete_tensor<Managed>;
    DLTensor& tensor = block->tensor.dl_tensor;
    tensor.data = const_cast<void*>(data);    // the flag states whether it is writable
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.dtype = type;
    tensor.shape = block->extents();
    tensor.strides = extents;
    return &block->tensor;
}

}    // namespace

void expect_shape(std::span<const std::int64_t> shape, std::size_t count) {
    std::uint64_t elements = 1;
    for (const std::int64_t extent : shape) {
        if (extent < 0 ||
            (extent != 0 && elements > (std::numeric_limits<std::uint64_t>::max)() / static_cast<std::uint64_t>(extent)))
            throw_exception<std::invalid_argument>("headroom: dlpack: no tensor has such a shape");
        elements *= static_cast<std::uint64_t>(extent);
    }
    if (shape.empty() || elements != count)
        throw_exception<std::invalid_argument>("headroom: dlpack: the shape is of another number of elements");
}

DLManagedTensorVersioned* make_tensor(const void* data, std::span<const std::int64_t> shape, DLDataType type, share owner,
                                      bool read_only) {
    auto* const tensor = make_owned_tensor<DLManagedTensorVersioned>(data, shape, type, std::move(owner));
    tensor->version = {1, 0};    // uses nothing of later versions
    tensor->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    return tensor;
}

DLManagedTensor* make_unversioned_tensor(const void* data, std::span<const std::int64_t> shape, DLDataType type, share owner) {
    return make_owned_tensor<DLManagedTensor>(data, shape, type, std::move(owner));
}

}}}    // namespace headroom::detail
