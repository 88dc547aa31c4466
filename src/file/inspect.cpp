// SPDX-License-Identifier: MIT
// Inspecting and repairing files, for the headroom command: implements inspect.hpp.
#include <headroom/detail/file/inspect.hpp>

#include <algorithm>
#include <cstring>

#include <headroom/detail/file/file_error.hpp>

#include "file/faults.hpp"
#include "throwing.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

struct handle_owner {
    file_handle file;
    explicit handle_owner(file_handle of) noexcept : file(of) {}
    handle_owner(const handle_owner&) = delete;
    handle_owner& operator=(const handle_owner&) = delete;
    ~handle_owner() { close_file(file); }
};

void read_into(const std::string& path, file_handle file, file_header& header, std::size_t& got, std::uint64_t& file_bytes) {
    std::error_code error = read_at(file, 0, header.data(), header.size(), got);
    file_facts facts;
    if (!error) error = stat_file(file, facts);
    if (error) throw_file_refusal(path, "read", header_bytes, error);
    file_bytes = facts.bytes;
}

sector_bytes sector_at(const file_header& header, std::size_t offset) noexcept {
    sector_bytes result;
    std::memcpy(result.data(), header.data() + offset, sector);
    return result;
}

bool is_whole_identity(const file_header& header, std::size_t offset) noexcept {
    file_fault what = file_fault::none;
    (void)read_identity(header.data() + offset, what);
    return what == file_fault::none;
}

// Returns the state of a file whose first `got` bytes are in `header`.
file_report report_on(const file_header& header, std::size_t got, std::uint64_t file_bytes) {
    file_report result;
    result.file_bytes = file_bytes;
    file_record newest;
    result.fault = validate_header(header, got, file_bytes, nullptr, result.elements, newest);
    if (got < header_bytes) return result;
    result.identity_whole = is_whole_identity(header, identity_offset);
    result.copy_whole =
        is_whole_identity(header, second_identity_offset) &&
        (!result.identity_whole || sector_at(header, identity_offset) == sector_at(header, second_identity_offset));
    const sector_bytes identity = sector_at(header, result.identity_whole ? identity_offset : second_identity_offset);
    for (std::size_t i = 0; i != 2; ++i) {
        const std::byte* const at = header.data() + record_offset + i * sector;
        result.records[i] = read_record(at, identity);
        result.record_whole[i] =
            result.records[i] && sector_at(header, record_offset + i * sector) == record_sector(identity, *result.records[i]);
    }
    std::memcpy(&result.published, header.data() + live_offset, sizeof result.published);
    return result;
}

}    // namespace

file_report inspect_file(const std::filesystem::path& path) {
    std::error_code error;
    const handle_owner owned(open_file(path, false, error));
    if (error) throw_file_refusal(path_text(path), "open", 0, error);
    file_header header{};
    std::size_t got = 0;
    std::uint64_t file_bytes = 0;
    read_into(path_text(path), owned.file, header, got, file_bytes);
    file_report result = report_on(header, got, file_bytes);
    result.being_written = is_locked_by_other(owned.file, file_lock::writer);
    if (result.fault != file_fault::none) {
        const file_record* const newest = result.newest();
        result.what = describe_file_fault(path_text(path), result.fault, result.elements, nullptr,
                                          newest == nullptr ? 0 : newest->size, file_bytes)
                          .message;
    }
    return result;
}

std::vector<std::string> repair_file(const std::filesystem::path& path, std::optional<std::uint64_t> elements) {
    const std::string name = path_text(path);
    std::error_code error;
    const handle_owner owned(open_file(path, true, error));
    if (error) throw_file_refusal(name, "open", 0, error);
    if ((error = try_lock_file(owned.file, file_lock::writer))) {
        throw_exception<file_error>("headroom: cannot repair \"" + name + "\" while somebody writes to it", "", error);
    }
    file_header header{};
    std::size_t got = 0;
    std::uint64_t file_bytes = 0;
    read_into(name, owned.file, header, got, file_bytes);
    const file_report before = report_on(header, got, file_bytes);
    const auto throw_unrepairable = [&](const std::string& why, const char* field) {
        throw_exception<file_error>("headroom: cannot repair \"" + name + "\": " + why, field,
                                    std::make_error_code(std::errc::bad_message));
    };
    const auto write = [&](std::size_t offset, const sector_bytes& bytes) {
        error = write_at(owned.file, offset, bytes.data(), bytes.size());
        if (!error) error = sync_file(owned.file);
        if (error) throw_file_refusal(name, "repair", 0, error);
    };
    std::vector<std::string> done;
    if (got < header_bytes) throw_unrepairable("the file is shorter than its header", "size");
    if (!before.identity_whole && !is_whole_identity(header, second_identity_offset)) {
        throw_unrepairable("both copies of the description of its elements are damaged", "checksum");
    }
    const sector_bytes identity = sector_at(header, before.identity_whole ? identity_offset : second_identity_offset);
    file_fault what = file_fault::none;
    const element_identity of = read_identity(identity.data(), what);
    const std::uint64_t fitting = (file_bytes - header_bytes) / of.size;
    const file_record* const newest = before.newest();
    if (newest == nullptr && !elements) {
        throw_unrepairable("both records of the number of elements are damaged: give the number (--elements; there is room for " +
                               std::to_string(fitting) + ")",
                           "record");
    }
    const std::uint64_t wanted = elements ? *elements : newest->size;
    if (elements && wanted > fitting)
        throw_unrepairable("the file has no room for so many elements: " + std::to_string(fitting) + " at most", "size");
    const std::uint64_t size = (std::min)(wanted, fitting);
    // Writes nothing before everything is known to be repairable.
    if (!before.identity_whole) {
        write(identity_offset, identity);
        done.push_back("the description of the elements, from its copy");
    } else if (!before.copy_whole) {
        write(second_identity_offset, identity);
        done.push_back("the copy of the description of the elements");
    }
    const bool forged = before.fault == file_fault::generation;
    if (newest == nullptr || newest->size != size || forged || !before.records_whole()) {
        const std::uint64_t generation = newest == nullptr || forged ? 1 : newest->generation;
        for (const std::uint64_t next : {generation + 1, generation + 2}) {
            write(record_position(next), record_sector(identity, {next, size}));
        }
        done.push_back(
            "the records of the number of elements: " + std::to_string(size) + " elements" +
            (newest != nullptr && newest->size > size ? ", of " + std::to_string(newest->size) + " that were committed" : ""));
    }
    return done;
}

}}}    // namespace headroom::detail
