// SPDX-License-Identifier: MIT
// The exception for files that cannot be used.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 {

// A file that the system does not open, write or sync, or that is damaged or of other elements. The message names the file and the wrong
// field. Shortage of memory, address space or disk is `refused` instead.
class HEADROOM_EXCEPTION file_error : public std::runtime_error {
public:
    file_error(const std::string& message, const char* field, std::error_code code)
        : std::runtime_error(message), field_(field), code_(code) {}
    file_error(const file_error&) = default;
    file_error& operator=(const file_error&) = default;
    ~file_error() override = default;

    // The wrong part of the file's header: "magic", "byte order", "version", "checksum", "element size", "element alignment", "type tag",
    // "record" or "size"; empty if the system refused.
    [[nodiscard]] const char* field() const noexcept { return field_; }
    // The system's error; bad_message if the file is wrong.
    [[nodiscard]] std::error_code code() const noexcept { return code_; }

private:
    const char* field_;
    std::error_code code_;
};

}}    // namespace headroom
