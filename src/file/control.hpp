// State of an open file, shared by a container's calls and the fork handlers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <headroom/detail/file/file_calls.hpp>
#include <headroom/detail/file/header.hpp>

#include "range/control_block.hpp"
#include "system/files.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;

// An open file: the control block of a container, with the part that is not in its header.
struct opened_file : file_control {
    std::string path;    // for messages, in UTF-8
    element_identity elements;
    sector_bytes identity{};
    growth_steps steps;
    std::size_t limit = 0;    // elements

    file_handle file;
    // Has the locks. Not the mapped handle, because a mapping that a forked child inherits would keep them.
    file_handle lock;
    file_identity which;    // identity of both handles' file: their numbers may become another file's

    range* place = nullptr;
    page_range live_page{};    // a second mapping of the header's page, out of reach of stray writes
    access allowed = access::read_write;

    std::uint64_t file_bytes = 0;    // known length of the file
    // Largest step by which it may grow: less than one that was refused, since a full disk takes long to refuse each.
    std::uint64_t max_step = UINT64_MAX;
    bool trusts_live = false;    // reader: a writer has published, or had published, the live size

    file_record committed;            // the newest record
    bool found = false;               // opened, not made: the record may be only in the system's memory, if its
                                      // commit may have failed
    std::uint64_t last_commit = 0;    // bytes in use then
    std::uint64_t huge_until = 0;     // bytes from the file's beginning advised to huge pages
    std::uint64_t written = 0;        // bytes from its beginning known to be initialised on the disk

    bool listed = false;            // in the list of this process's writers
    opened_file* next = nullptr;    // in that list
    opened_file* previous = nullptr;

    // True if the elements are mapped writable.
    [[nodiscard]] bool has_writable_mapping() const noexcept { return role == file_role::writer || role == file_role::failed; }
    [[nodiscard]] std::atomic<std::uint64_t>& live() const noexcept {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(live_page.data + live_offset);
    }
};

// Reads identity and length of the handle, one of the two. Returns bad_file_descriptor if it is another file's now.
[[nodiscard]] std::error_code stat_own(const opened_file* control, file_handle handle, file_facts& facts) noexcept;
// Closes one of the two handles, after releasing its locks if `locks`. Does nothing if it is another file's now.
void close_own_handle(const opened_file* control, file_handle handle, bool locks) noexcept;

// True if the file is shorter than known. A writer whose handle is another file's now becomes `failed`: there may be another writer.
[[nodiscard]] bool detect_truncation(opened_file* control, std::error_code& error) noexcept;

struct commit_outcome {
    std::error_code error;
    const char* doing = "";
    bool cut = false;
    [[nodiscard]] bool done() const noexcept { return !error && !cut; }
};

[[nodiscard]] commit_outcome try_commit(opened_file* control, std::uint64_t size) noexcept;
[[noreturn]] void throw_commit_failure(const opened_file* control, const commit_outcome& outcome, std::uint64_t size);

// Truncates the file after `size` elements, or after the committed ones if more, and makes the pages past that inaccessible. Not while
// another vector reads: it may have mapped more.
void truncate_after(opened_file* control, std::uint64_t size) noexcept;

// The list of this process's writers, which are none in a forked child. A writer enters it before it opens the handle for the lock;
// resource_unavailable_try_again if another writer has the lock. Leaving closes that handle and so releases the lock.
std::error_code lock_as_writer(opened_file* control, const std::filesystem::path& path) noexcept;
void leave_writers(opened_file* control) noexcept;

// Offsets of the accessible pages: from the first whole page of elements, without the header's page if possible.
[[nodiscard]] std::size_t first_page(const opened_file* control) noexcept;
[[nodiscard]] std::size_t last_page(const opened_file* control) noexcept;
[[nodiscard]] page_range pages_of(const opened_file* control, std::size_t from, std::size_t to) noexcept;
[[nodiscard]] page_range mapped_pages(const opened_file* control) noexcept;

[[nodiscard]] std::uint64_t bytes_of(const opened_file* control, std::uint64_t elements) noexcept;
[[nodiscard]] std::size_t usable_elements(const opened_file* control) noexcept;

// Bytes of addresses for a file of `limit` elements.
[[nodiscard]] std::size_t range_bytes(const opened_file& control, std::size_t limit) noexcept;

// Reserves a range and maps the file into it, accessible up to the file's length. If refused, sets `error` and returns null.
range* map_range(const opened_file* control, std::size_t limit, std::error_code& error) noexcept;
void unmap_range(range* place) noexcept;
// Maps the file's range, named after the file, and the header's page. Throws; what was mapped by then belongs to the control block.
void map_all(opened_file* control);
void unmap_all(opened_file* control) noexcept;
// Makes pages of a grown file accessible; `from` and `to` are bytes from its beginning.
[[nodiscard]] std::error_code map_pages(const opened_file* control, std::size_t from, std::size_t to) noexcept;

// Returns the path in UTF-8. string() throws on Windows if the code page lacks a character.
[[nodiscard]] std::string path_text(const std::filesystem::path& path);
// Throws `refused` for shortages, file_error for other errors.
[[noreturn]] void throw_file_refusal(const std::string& path, const char* doing, std::uint64_t bytes, std::error_code error);
// Throws the file_error for the fault `what`.
[[noreturn]] void throw_file_fault(const std::string& path, file_fault what, const element_identity& found,
                                   const element_identity* expected, std::uint64_t size, std::uint64_t file_bytes);

}}}    // namespace headroom::detail
