// SPDX-License-Identifier: MIT
// An Arrow array of another producer. Counts calls of release and checks how they are made.
#pragma once

#include <cstdint>
#include <vector>

#include <headroom/arrow.hpp>

namespace headroom_test {

// Ten 64-bit numbers, 10 ... 19, by default. Schema and array share their owner, as with some producers.
struct foreign_array {
    std::vector<std::int64_t> values{10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    std::uint8_t validity[2] = {0xFF, 0x03};
    const void* buffers[3] = {nullptr, values.data(), nullptr};
    ArrowArray array{};
    ArrowSchema schema{};
    int arrays_released = 0;
    int schemas_released = 0;
    bool array_was_the_importer_s = false;    // when the schema was released

    foreign_array() {
        array.length = 10;
        array.n_buffers = 2;
        array.buffers = buffers;
        array.private_data = this;
        array.release = [](ArrowArray* self) {
            ++static_cast<foreign_array*>(self->private_data)->arrays_released;
            self->release = nullptr;
        };
        schema.format = "l";
        schema.name = "";
        schema.private_data = this;
        schema.release = [](ArrowSchema* self) {
            auto& all = *static_cast<foreign_array*>(self->private_data);
            ++all.schemas_released;
            all.array_was_the_importer_s = all.array.release == nullptr;
            if (all.array.release != nullptr) all.array.release(&all.array);    // not taken over
            self->format = nullptr;
            self->release = nullptr;
        };
    }
    foreign_array(const foreign_array&) = delete;
    foreign_array& operator=(const foreign_array&) = delete;
};

}    // namespace headroom_test
