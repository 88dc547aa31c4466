// SPDX-License-Identifier: MIT
// Owns the Arrow structs that a column exports; releases them at the end of the test.
#pragma once

#include <headroom/arrow.hpp>

namespace headroom_test {

struct exported {
    ArrowArray array{};
    ArrowSchema schema{};
    exported() = default;
    exported(const exported&) = delete;
    explicit exported(const headroom::arrow_column& column) { headroom::export_arrow(column, &array, &schema); }
    ~exported() {
        if (array.release != nullptr) array.release(&array);
        if (schema.release != nullptr) schema.release(&schema);
    }
};

}    // namespace headroom_test
