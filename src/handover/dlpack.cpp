#include <headroom/dlpack.hpp>

#include <memory>
#include <utility>

#include "handover/keep_loaded.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// A tensor and what it points to, in one block.
template <class Managed>
struct owned_tensor {
    Managed tensor{};
    std::int64_t shape = 0;
    std::int64_t stride = 1;
    share owner;
};

template <class Managed>
void delete_tensor(Managed* tensor) noexcept {
    auto* const block = static_cast<owned_tensor<Managed>*>(tensor->manager_ctx);
    const share last = std::move(block->owner);    // the program's destructors run when the tensor is gone
    delete block;
}

template <class Managed>
Managed* made(const void* data, std::size_t count, DLDataType type, share owner) {
    keep_loaded_once(reinterpret_cast<const void*>(&delete_tensor<Managed>));
    if (const shared_owner* const what = owner.get()) keep_loaded_once(reinterpret_cast<const void*>(what->destroy));
    auto* const block = new owned_tensor<Managed>;
    block->shape = static_cast<std::int64_t>(count);
    block->owner = std::move(owner);
    block->tensor.manager_ctx = block;
    block->tensor.deleter = &delete_tensor<Managed>;
    DLTensor& tensor = block->tensor.dl_tensor;
    tensor.data = const_cast<void*>(data);    // the flag says whether it may be written to
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 1;
    tensor.dtype = type;
    tensor.shape = &block->shape;
    tensor.strides = &block->stride;
    return &block->tensor;
}

}    // namespace

DLManagedTensorVersioned* make_tensor(const void* data, std::size_t count, DLDataType type, share owner, bool read_only) {
    auto* const tensor = made<DLManagedTensorVersioned>(data, count, type, std::move(owner));
    tensor->version = {1, 0};    // nothing in it is of a later one
    tensor->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    return tensor;
}

DLManagedTensor* make_unversioned_tensor(const void* data, std::size_t count, DLDataType type, share owner) {
    return made<DLManagedTensor>(data, count, type, std::move(owner));
}

}}}    // namespace headroom::detail
