// What is thrown when a file cannot be used.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 {

// A file that the system will not open, write or make durable, or that is not what it should be. The message names the file,
// and the field that does not say what it should. (Where memory, address space or the disk is short, `refused` is thrown.)
class HEADROOM_EXCEPTION file_error : public std::runtime_error {
public:
    file_error(const std::string& message, const char* field, std::error_code code)
        : std::runtime_error(message), field_(field), code_(code) {}

    // Which part of the file's header is wrong: "magic", "byte order", "version", "checksum", "element size", "element alignment",
    // "type tag", "record" or "size"; empty where the system refused.
    [[nodiscard]] const char* field() const noexcept { return field_; }
    // Why the system refused; bad_message where the file is wrong.
    [[nodiscard]] std::error_code code() const noexcept { return code_; }

private:
    const char* field_;
    std::error_code code_;
};

}}    // namespace headroom
