// SPDX-License-Identifier: MIT
// File operations of the system. Implemented in files_posix.cpp and files_windows.cpp; called by src/file/. Nothing here throws. A failure
// is returned as a std::error_code and leaves the file unchanged, unless a function says otherwise. Calls that may fail are counted by
// calls.hpp, so that a test can refuse them, but for those that end something: closing, unlocking, unmapping, undoing a failed call.
// Writing to a file, resizing and syncing it notify headroom::testing's watcher.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Handle of an open file, closed by its owner. The number may become another file's if other code closes it (closefrom(3), a daemon that
// closes all): stat_file() tells which file it is now.
struct file_handle {
    std::intptr_t value = -1;
    [[nodiscard]] explicit operator bool() const noexcept { return value != -1; }
};

// Identifies a file among all that are open.
struct file_identity {
    std::uint64_t volume = 0;
    std::uint64_t number = 0;
    friend bool operator==(const file_identity&, const file_identity&) = default;
};
struct file_facts {
    file_identity identity;
    std::uint64_t bytes = 0;    // its length
};

// Locks of a file, each held by one handle, not by the process, until that is closed. They do not block reading and writing.
enum class file_lock : std::uint8_t {
    writer,       // the file has a writer
    published,    // the live size is this writer's
    readers,      // shared by readers, or held while the file is truncated
};

// The error for an exceeded disk quota, which has no std::errc.
std::error_code disk_quota_exceeded() noexcept;

// Opens an existing file.
file_handle open_file(const std::filesystem::path& path, bool writable, std::error_code& error) noexcept;

// Makes a file for reading and writing. If the system can, without a name (`named` is false): it is deleted with its handle. Otherwise at
// `path`; an error if that exists.
file_handle create_file(const std::filesystem::path& path, unsigned permissions, bool& named, std::error_code& error) noexcept;
// Gives an unnamed file its name, atomically. An error if the name exists.
std::error_code link_file(file_handle file, const std::filesystem::path& path) noexcept;

// Opens a second, independent handle of the file, for a lock of its own.
file_handle reopen_file(file_handle file, const std::filesystem::path& path, bool writable, std::error_code& error) noexcept;

void close_file(file_handle file) noexcept;

std::error_code stat_file(file_handle file, file_facts& facts) noexcept;

// Truncates the file to `bytes`, which must not exceed its length.
std::error_code truncate_file(file_handle file, std::uint64_t bytes) noexcept;
// Like truncate_file(), but returns resource_unavailable_try_again if the handle `lock` finds readers. Not all systems can check that.
std::error_code truncate_file_if_unread(file_handle file, file_handle lock, std::uint64_t bytes) noexcept;
// Makes the handle a reader until it is closed; waits while the file is truncated. Best effort: not all systems have such a lock.
void lock_as_reader(file_handle file) noexcept;

// Extends the file from `from`, its length, to `to`, with disk space for every byte, so that later writes are not refused. If the file
// system cannot allocate, writes zeros and sets `written`. On failure the length is unchanged.
std::error_code allocate_file_space(file_handle file, std::uint64_t from, std::uint64_t to, bool& written) noexcept;

// Allocates disk space for holes in the first `bytes`, which another program may have left.
std::error_code allocate_holes(file_handle file, std::uint64_t bytes) noexcept;

// Reads up to `bytes` from `offset` on. Sets `got` to the bytes read, less at the end of the file.
std::error_code read_at(file_handle file, std::uint64_t offset, void* to, std::size_t bytes, std::size_t& got) noexcept;
// Writes all bytes. On failure a part may have been written.
std::error_code write_at(file_handle file, std::uint64_t offset, const void* from, std::size_t bytes) noexcept;

// Waits until all writes to the file, and to its pages mapped at `shown`, are on the disk, with the metadata needed to read them.
std::error_code sync_file(file_handle file, page_range shown = {}) noexcept;
// Syncs the directory entry of a file. Best effort: some systems and file systems cannot.
void sync_directory_of(const std::filesystem::path& path) noexcept;

// Takes a lock exclusively. Does not wait for its holder; on Windows it tries 20 times, a timer tick apart, because a test of the lock
// holds it for a moment. Returns resource_unavailable_try_again if another handle has it.
std::error_code try_lock_file(file_handle file, file_lock which) noexcept;
// Releases all locks of the handle. Closing it is not enough, because a forked child that has not run yet has a copy.
void release_locks(file_handle file) noexcept;
// True if another handle has the lock.
bool is_locked_by_other(file_handle file, file_lock which) noexcept;

// Reserves addresses for mapping a file, like reserve(). Returns function_not_supported where growing files cannot be mapped there.
page_range reserve_for_file(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept;

// Maps the file's first page at any address. If refused, sets `error`, and nothing is mapped.
page_range map_first_page(file_handle file, bool writable, std::error_code& error) noexcept;
// Prepares reserved addresses, or a part of them, for mapping a file from its first byte on. They stay inaccessible. Precondition: a page
// of the file is mapped. Otherwise its file system may refuse to map once the range is unmapped, where another thread may map.
std::error_code prepare_file_range(page_range range, file_handle file, bool writable) noexcept;
// Maps the file's bytes from `offset` on at `pages` of a prepared range, in order and each page once, up to the file's last page.
std::error_code map_file_pages(page_range pages, file_handle file, std::uint64_t offset, bool writable) noexcept;
// Sets the access to mapped pages.
std::error_code protect_file_pages(page_range pages, access allowed) noexcept;
// Unmaps the file; the range is as reserved again.
std::error_code unmap_file_range(page_range range) noexcept;

// Unmaps what map_first_page() returned; now or, if the system refuses, as soon as it does not (unmap_queue.hpp).
void unmap_first_page(page_range page) noexcept;

}}}    // namespace headroom::detail
