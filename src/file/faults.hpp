// SPDX-License-Identifier: MIT
// Messages and exceptions for faults of files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <headroom/detail/file/faults.hpp>

#include "file/opened_file.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Returns the path in UTF-8. string() throws on Windows if the code page lacks a character.
[[nodiscard]] std::string path_text(const std::filesystem::path& path);
// Throws `refused` for shortages, file_error for other errors.
[[noreturn]] void throw_file_refusal(const std::string& path, const char* doing, std::uint64_t bytes, std::error_code error);
// Message of the file_error for a fault, and the field that it names.
struct file_fault_words {
    std::string message;
    const char* field;
};
[[nodiscard]] HEADROOM_COLD file_fault_words describe_file_fault(const std::string& path, file_fault what,
                                                                 const element_identity& found, const element_identity* expected,
                                                                 std::uint64_t size, std::uint64_t file_bytes);
// Throws the file_error for the fault `what`.
[[noreturn]] void throw_file_fault(const std::string& path, file_fault what, const element_identity& found,
                                   const element_identity* expected, std::uint64_t size, std::uint64_t file_bytes);

}}}    // namespace headroom::detail
