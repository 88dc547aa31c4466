// SPDX-License-Identifier: MIT
// Messages and exceptions for faults of files.
#include <headroom/detail/file/file_error.hpp>
#include <headroom/reservation.hpp>

#include <stdexcept>

#include "file/faults.hpp"
#include "throwing.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

std::string described(const element_identity& elements) { return "\"" + std::string(elements.tag.data()) + "\""; }

// True if the system refused memory, locked memory, disk space, quota or the file's size.
bool is_shortage(const std::error_code& error) noexcept {
    // resource_unavailable_try_again: more memory would be locked than RLIMIT_MEMLOCK allows.
    return error == std::errc::not_enough_memory || error == std::errc::resource_unavailable_try_again ||
           error == std::errc::no_space_on_device || error == std::errc::file_too_large || error == disk_quota_exceeded();
}

}    // namespace

void throw_file_refusal(const std::string& path, const char* doing, std::uint64_t bytes, std::error_code error) {
    if (is_shortage(error)) {
        const std::string what = std::string(doing) + " \"" + path + "\"";
        throw_refused(what.c_str(), static_cast<std::size_t>(bytes), error);
    }
    throw_exception<file_error>("headroom: cannot " + std::string(doing) + " \"" + path + "\": " + error.message(), "", error);
}

file_fault_words describe_file_fault(const std::string& path, file_fault what, const element_identity& found,
                                     const element_identity* expected, std::uint64_t size, std::uint64_t file_bytes) {
    const char* field = "";
    std::string words;
    switch (what) {
        case file_fault::none: break;
        case file_fault::magic:
            field = "magic";
            words = "magic: it does not begin as a file_vector's file does";
            break;
        case file_fault::byte_order:
            field = "byte order";
            words = "byte order: it was made on a machine of the other byte order";
            break;
        case file_fault::version:
            field = "version";
            words = "version: it has a layout that this version of Headroom does not know";
            break;
        case file_fault::identity_checksum:
            field = "checksum";
            words =
                "checksum: the part of the header that tells what the elements are is damaged (\"headroom file repair\" may help)";
            break;
        case file_fault::element_size:
            field = "element size";
            words = "element size: " + std::to_string(found.size) + " bytes in the file";
            if (expected != nullptr) words += ", " + std::to_string(expected->size) + " in the program";
            break;
        case file_fault::element_alignment:
            field = "element alignment";
            words = "element alignment: " + std::to_string(found.alignment) + " in the file";
            if (expected != nullptr) words += ", " + std::to_string(expected->alignment) + " in the program";
            break;
        case file_fault::type_tag:
            field = "type tag";
            words = "type tag: " + described(found) + " in the file";
            if (expected != nullptr) words += ", " + described(*expected) + " in the program";
            break;
        case file_fault::records:
            field = "record";
            words = "record: neither of the two that tell how many elements there are is whole";
            break;
        case file_fault::generation:
            field = "record";
            words = "record: its generation is one that no writer leaves there (\"headroom file repair\" may help)";
            break;
        case file_fault::truncated:
            field = "size";
            words = "size: the file is truncated: it has " + std::to_string(file_bytes) + " bytes";
            if (found.size != 0) {
                words += ", and should hold " + std::to_string(size) + " elements of " + std::to_string(found.size) +
                         " bytes after " + std::to_string(header_bytes) + " of header";
            }
            break;
    }
    return {"headroom: \"" + path + "\" cannot be used: " + words, field};
}

void throw_file_fault(const std::string& path, file_fault what, const element_identity& found, const element_identity* expected,
                      std::uint64_t size, std::uint64_t file_bytes) {
    const file_fault_words words = describe_file_fault(path, what, found, expected, size, file_bytes);
    throw_exception<file_error>(words.message, words.field, std::make_error_code(std::errc::bad_message));
}

std::string path_text(const std::filesystem::path& path) {
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

void throw_mixed_access() { throw_exception<std::invalid_argument>("headroom::file_table: all columns are written to, or none"); }

void throw_new_column() {
    throw_exception<std::invalid_argument>(
        "headroom::file_table: nothing was ever committed to one column, and rows that are committed of others would be cut for it");
}

void throw_has_elements(const std::filesystem::path& path) {
    throw_exception<file_error>("headroom: cannot make \"" + path_text(path) + "\": it has elements", "",
                                std::make_error_code(std::errc::file_exists));
}

}}}    // namespace headroom::detail
