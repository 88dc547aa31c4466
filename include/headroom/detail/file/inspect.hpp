// SPDX-License-Identifier: MIT
// Inspects and repairs a file_vector's file without knowing its element type, for the headroom command.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/file/header.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

struct file_report {
    std::uint64_t file_bytes = 0;
    file_fault fault = file_fault::none;    // why it cannot be opened for any element type
    std::string what;                       // `fault` in words
    element_identity elements;
    bool identity_whole = false;
    bool copy_whole = false;    // second copy of the identity
    std::array<std::optional<file_record>, 2> records;
    std::array<bool, 2> record_whole{};    // both copies of it
    std::uint64_t published = 0;
    bool being_written = false;

    [[nodiscard]] const file_record* newest() const noexcept {
        if (!records[0] || !records[1]) return records[0] ? &*records[0] : records[1] ? &*records[1] : nullptr;
        return &*records[records[0]->generation < records[1]->generation ? 1 : 0];
    }
    // True if every part is whole; one record may never have been written.
    [[nodiscard]] bool whole() const noexcept {
        return fault == file_fault::none && identity_whole && copy_whole && records_whole();
    }
    [[nodiscard]] bool records_whole() const noexcept {
        const file_record* const last = newest();
        if (last == nullptr) return false;
        const bool only_one = last->generation == 1;
        return record_whole[last->generation % 2] && (only_one || record_whole[(last->generation + 1) % 2]);
    }
};

// Returns the state of the file. Takes no lock. Throws file_error when the system refuses.
HEADROOM_API file_report inspect_file(const std::filesystem::path& path);

// Repairs the file and returns a line for each repair: the identity from its copy or the other way round, records that are damaged or
// exceed the file. `elements`: their number, for a file whose records are lost. Throws file_error if the file cannot be repaired, if it
// has a writer, and when the system refuses. May be run again if interrupted.
HEADROOM_API std::vector<std::string> repair_file(const std::filesystem::path& path, std::optional<std::uint64_t> elements);

}}}    // namespace headroom::detail
