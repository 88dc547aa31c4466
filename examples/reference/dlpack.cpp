// SPDX-License-Identifier: MIT
#include <headroom/dlpack.hpp>
#include <headroom/settled_vector.hpp>
#include <iostream>

int main() {
    headroom::settled_vector<float> weights(1000, 0.5F);
    const float* const where = weights.data();

    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(headroom::freeze(std::move(weights)));
    std::cout << (tensor->dl_tensor.data == where) << ' ' << tensor->dl_tensor.shape[0] << " of "
              << int{tensor->dl_tensor.dtype.bits} << " bits, "
              << ((tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0 ? "read-only" : "writable") << '\n';
    tensor->deleter(tensor);    // what NumPy or PyTorch does when its array dies
}
