// SPDX-License-Identifier: MIT
// Expected content of an exported Arrow column; compares it with the structs as an importer reads them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <headroom/arrow.hpp>

namespace headroom_test {

struct broken_handover : std::logic_error {
    using std::logic_error::logic_error;
};

inline void must(bool holds, const char* promise) {
    if (!holds) throw broken_handover(promise);
}

struct shown_column {
    std::string format, name;
    std::size_t rows = 0;
    std::vector<std::int32_t> numbers;    // elements, bits or offsets
    std::string bytes;                    // of text
    std::vector<bool> valid;              // of a column with nulls
    bool nullable = false;
    std::vector<shown_column> fields;

    void check(const ArrowSchema& schema) const {
        must(schema.format == format && schema.name == name, "the schema's format and name");
        must(schema.n_children == static_cast<std::int64_t>(fields.size()) && schema.dictionary == nullptr,
             "the schema's children");
        for (std::size_t i = 0; i != fields.size(); ++i) {
            if (schema.children[i]->release != nullptr) fields[i].check(*schema.children[i]);    // skipped if moved out
        }
    }
    void check(const ArrowArray& array, std::size_t first, std::size_t count) const {
        must(array.length == static_cast<std::int64_t>(count) && array.offset >= 0, "the array's length");
        must(array.n_children == static_cast<std::int64_t>(fields.size()) && array.dictionary == nullptr, "the array's children");
        must(array.n_buffers == (format == "+s" ? 1 : format == "u" ? 3 : 2), "how many buffers there are");
        const auto offset = static_cast<std::size_t>(array.offset);
        const auto* const validity = static_cast<const std::uint8_t*>(array.buffers[0]);
        std::int64_t nulls = 0;
        for (std::size_t i = 0; i != count; ++i) {
            const bool there = validity == nullptr || headroom::detail::bit_at(validity, offset + i);
            must(there == (!nullable || valid[first + i]), "which elements are there");
            nulls += there ? 0 : 1;
            if (format != "+s") check_element(array, offset + i, first + i);
        }
        must(array.null_count == nulls || (array.null_count == -1 && nullable), "how many are missing");
        for (std::size_t i = 0; i != fields.size(); ++i) {
            if (array.children[i]->release == nullptr) continue;
            const bool sliced = format == "+s" && !nullable;
            fields[i].check(*array.children[i], sliced ? first : 0, sliced ? count : fields[i].rows);
        }
    }

private:
    void check_element(const ArrowArray& array, std::size_t there, std::size_t here) const {
        if (format == "b") {
            const bool bit = headroom::detail::bit_at(static_cast<const std::uint8_t*>(array.buffers[1]), there);
            must(bit == (numbers[here] != 0), "a bit");
            return;
        }
        const std::int32_t* const at = static_cast<const std::int32_t*>(array.buffers[1]) + there;
        must(at[0] == numbers[here], "an element or offset");
        if (format == "i") return;
        must(at[1] == numbers[here + 1], "an offset");
        if (format == "+l") return;
        const auto from = static_cast<std::size_t>(at[0]), to = static_cast<std::size_t>(at[1]);
        must(std::equal(bytes.begin() + at[0], bytes.begin() + at[1], static_cast<const char*>(array.buffers[2]) + from) &&
                 from <= to,
             "text");
    }
};

}    // namespace headroom_test
