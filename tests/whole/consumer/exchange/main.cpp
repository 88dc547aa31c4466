// A user's program that hands out a column and a tensor, and takes the column back.
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>

#include <cstdio>
#include <memory>
#include <utility>

int main() {
    ArrowArray array;
    ArrowSchema schema;
    headroom::export_arrow(headroom::settled_vector<int>{1, 2, 3}, &array, &schema);
    const headroom::imported<int> numbers = headroom::import_arrow<int>(&array, &schema);
    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(headroom::freeze(headroom::settled_vector<double>{0.5, 1.5}));
    const bool shaped = tensor->dl_tensor.ndim == 1 && tensor->dl_tensor.shape[0] == 2;
    tensor->deleter(tensor);
    std::puts(numbers.size() == 3 && numbers[2] == 3 && shaped ? "ok" : "no");
}
