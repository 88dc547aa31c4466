// What the floors above need of files. Implemented in src/system/files_posix.cpp and files_windows.cpp.
//
// Nothing here throws. A failure comes back as a std::error_code and leaves the file as it was, unless a function says
// otherwise. Every call passes the counter of calls.hpp, so that a test can refuse it, and a call that changes a file or makes
// it durable is told to the watcher of headroom::testing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// A file that is open; whoever has one closes it. A handle is a number, which the system gives to the next file once somebody has
// closed it (closefrom(3), a daemon that closes all): stat_file() says whose it is now.
struct file_handle {
    std::intptr_t value = -1;
    [[nodiscard]] explicit operator bool() const noexcept { return value != -1; }
};

// Which file it is, among those that are open.
struct file_identity {
    std::uint64_t volume = 0;
    std::uint64_t number = 0;
    friend bool operator==(const file_identity&, const file_identity&) = default;
};
struct file_facts {
    file_identity identity;
    std::uint64_t bytes = 0;    // its length
};

// What can be locked of a file, each by one at a time. Locks belong to the handle, not to the process, and go with it. They
// are no obstacle to reading and writing.
enum class file_lock : std::uint8_t {
    writer,       // there is one who writes
    published,    // the live size is this writer's
    readers,      // there are some who read, and share the lock; or it is being cut
};

// What the system says when a user's share of the disk is used up: there is no std::errc for it.
std::error_code disk_quota_exceeded() noexcept;

// Opens a file that exists.
file_handle open_file(const std::filesystem::path& path, bool writable, std::error_code& error) noexcept;

// Makes a file for reading and writing. Where the system can, it has no name yet (`named` is false), and is gone with its
// handle; otherwise it is at `path`, and it is an error that something was there.
file_handle create_file(const std::filesystem::path& path, unsigned permissions, bool& named, std::error_code& error) noexcept;
// Gives a file without a name its name: at once and whole. An error where something has it already.
std::error_code link_file(file_handle file, const std::filesystem::path& path) noexcept;

// A second, independent handle of the same file, for a lock of its own.
file_handle reopen_file(file_handle file, const std::filesystem::path& path, bool writable, std::error_code& error) noexcept;

void close_file(file_handle file) noexcept;

std::error_code stat_file(file_handle file, file_facts& facts) noexcept;

// Makes the file end at `bytes`; what lay past that is gone. For making it shorter.
std::error_code truncate_file(file_handle file, std::uint64_t bytes) noexcept;
// The same where nobody reads, as `lock` sees it: resource_unavailable_try_again where somebody does, and the file is as it was.
std::error_code truncate_file_if_unread(file_handle file, file_handle lock, std::uint64_t bytes) noexcept;
// Counts the handle among the readers until it is closed; waits while the file is being cut. A wish: not all systems have a lock that
// is shared besides the writer's.
void lock_as_reader(file_handle file) noexcept;

// Makes the file reach from `from`, its present size, to `to`, with space on the disk for every byte: writing there later
// cannot be refused. Where the file system cannot promise space zeros are written, and `written` is true. On failure the file is as long
// as before.
std::error_code allocate_file_space(file_handle file, std::uint64_t from, std::uint64_t to, bool& written) noexcept;

// Gives space to whatever part of the file's first `bytes` has none (another program may have left holes).
std::error_code allocate_holes(file_handle file, std::uint64_t bytes) noexcept;

// Reads up to `bytes` from `offset` on; `got` is less where the file ends.
std::error_code read_at(file_handle file, std::uint64_t offset, void* to, std::size_t bytes, std::size_t& got) noexcept;
// Writes all of it. On failure a part may have been written.
std::error_code write_at(file_handle file, std::uint64_t offset, const void* from, std::size_t bytes) noexcept;

// Returns once what was written, to the file or into `shown`, where the file is shown, has reached the disk, and what is needed
// to find it again.
std::error_code sync_file(file_handle file, page_range shown = {}) noexcept;
// The same for the name of a file. A wish: some systems and file systems cannot.
void sync_directory_of(const std::filesystem::path& path) noexcept;

// Takes a lock without waiting: resource_unavailable_try_again where another handle has it.
std::error_code try_lock_file(file_handle file, file_lock which) noexcept;
// Gives back all locks of the handle at once. Closing it is not enough: a forked child that has not run yet still has a copy.
void release_locks(file_handle file) noexcept;
// Whether another handle has the lock.
bool is_locked_by_other(file_handle file, file_lock which) noexcept;

// Addresses in which a file can be shown: as reserve() otherwise, and released as those are. function_not_supported where the
// system cannot show a file that grows at addresses that stay.
page_range reserve_for_file(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept;

// Prepares addresses that reserve_for_file() returned, or a part of them, for showing a file from its first byte on. Nothing may
// be touched yet.
std::error_code prepare_file_range(page_range range, file_handle file, bool writable) noexcept;
// Shows, at `pages` of a range so prepared, the bytes from `offset` on, as far as to the page in which the file ends. Pages are
// shown one after the other and each once; they may be written to if `writable`.
std::error_code map_file_pages(page_range pages, file_handle file, std::uint64_t offset, bool writable) noexcept;
// What may be done with pages that are shown.
std::error_code protect_file_pages(page_range pages, access allowed) noexcept;
// The range is as it was reserved.
std::error_code unmap_file_range(page_range range) noexcept;

}}}    // namespace headroom::detail
