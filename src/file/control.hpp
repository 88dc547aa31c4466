// An open file: what a container's calls, and the handlers of fork, need of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <headroom/detail/file/file_calls.hpp>
#include <headroom/detail/file/header.hpp>

#include "range/range.hpp"
#include "system/files.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;

// What this process may do with a file. Every operation asks.
enum class file_role : std::uint8_t {
    reader,
    writer,
    child,     // of the writer: reads
    failed,    // was the writer, until a commit failed or its handles were another file's: nothing is written or cut any more
};

struct file_control {
    std::string path;    // as messages show it
    element_identity elements;
    sector_bytes identity{};
    growth_steps steps;
    std::size_t limit = 0;    // elements

    file_handle file;
    // Has the locks. Not the handle that is mapped: a mapping that a forked child inherits would keep them.
    file_handle lock;
    file_identity which;    // of both handles: their numbers may be another file's by now
    file_role role = file_role::reader;

    range* place = nullptr;
    page_range live_page{};    // the header's page, mapped a second time: elsewhere, so that no stray write meets it
    access allowed = access::read_write;

    std::uint64_t file_bytes = 0;    // how far the file reaches, as far as is known
    bool trusts_live = false;        // a reader: the live size is that of a writer who is, or was, there

    file_record committed;            // the newest record
    bool found = false;               // it was there when the file was opened, and is perhaps only in the system's memory: its
                                      // commit may have failed
    std::uint64_t last_commit = 0;    // bytes in use then
    std::uint64_t huge_until = 0;     // bytes from the file's beginning for which huge pages were asked
    std::uint64_t written = 0;        // bytes from its beginning to whose blocks something was written, as far as commits know

    bool listed = false;             // in the list of this process's writers
    file_control* next = nullptr;    // in that list
    file_control* previous = nullptr;

    // Whether the elements are shown such that they can be written to.
    [[nodiscard]] bool has_writable_mapping() const noexcept { return role == file_role::writer || role == file_role::failed; }
    [[nodiscard]] std::atomic<std::uint64_t>& live() const noexcept {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(live_page.data + live_offset);
    }
};

// What `handle`, one of the two, says of the file: bad_file_descriptor where it is not this file's any more.
[[nodiscard]] std::error_code stat_own(const file_control* control, file_handle handle, file_facts& facts) noexcept;
// Closes one of the two, and first gives its locks back where `locks`; leaves alone what is another file's by now.
void close_own_handle(const file_control* control, file_handle handle, bool locks) noexcept;

// Whether it is still there, and the lock with it. True when it is shorter than it was known to be. A writer who has lost a handle
// writes no more: another one may by now.
[[nodiscard]] bool detect_truncation(file_control* control, std::error_code& error) noexcept;

struct commit_outcome {
    std::error_code error;
    const char* doing = "";
    bool cut = false;
    [[nodiscard]] bool done() const noexcept { return !error && !cut; }
};

[[nodiscard]] commit_outcome try_commit(file_control* control, std::uint64_t size) noexcept;
[[noreturn]] void throw_commit_failure(const file_control* control, const commit_outcome& outcome, std::uint64_t size);

// Ends the file after `size` elements or after what is committed, whichever is more, and forbids the pages past that. Not while somebody
// reads, who may have been shown more.
void truncate_after(file_control* control, std::uint64_t size) noexcept;

// The list of this process's writers: in a forked child they are none any more. One enters it before it opens the handle that gets
// the lock: resource_unavailable_try_again where somebody else has that. When it leaves it the handle is closed, and with it the lock
// given back.
std::error_code lock_as_writer(file_control* control, const std::filesystem::path& path) noexcept;
void leave_writers(file_control* control) noexcept;

// Where pages may be touched: from the first whole page of elements (the header's own is left out where it can be).
[[nodiscard]] std::size_t first_page(const file_control* control) noexcept;
[[nodiscard]] std::size_t last_page(const file_control* control) noexcept;
[[nodiscard]] page_range pages_of(const file_control* control, std::size_t from, std::size_t to) noexcept;
[[nodiscard]] page_range mapped_pages(const file_control* control) noexcept;

[[nodiscard]] std::uint64_t bytes_of(const file_control* control, std::uint64_t elements) noexcept;
[[nodiscard]] std::size_t usable_elements(const file_control* control) noexcept;

// Bytes of addresses for a file of `limit` elements.
[[nodiscard]] std::size_t range_bytes(const file_control& control, std::size_t limit) noexcept;

// A range with the file in it, accessible as far as the file reaches. Null and `error` when refused.
range* map_range(const file_control* control, std::size_t limit, std::error_code& error) noexcept;
void unmap_range(range* place) noexcept;
// The range, with the file's own name, and the header's page. Throws; what it has made by then is the control block's.
void map_all(file_control* control);
void unmap_all(file_control* control) noexcept;
// Makes pages that the file has reached accessible, counted in bytes from its beginning.
[[nodiscard]] std::error_code map_pages(const file_control* control, std::size_t from, std::size_t to) noexcept;

// Throws `refused` for what is short, file_error for the rest.
[[noreturn]] void throw_file_refusal(const std::string& path, const char* doing, std::uint64_t bytes, std::error_code error);
// Throws the file_error that says what is wrong.
[[noreturn]] void throw_file_fault(const std::string& path, file_fault what, const element_identity& found,
                                   const element_identity* expected, std::uint64_t size, std::uint64_t file_bytes);

}}}    // namespace headroom::detail
