// SPDX-License-Identifier: MIT
// Files on Linux and other POSIX systems.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/sysmacros.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <limits>

#include "system/calls.hpp"
#include "system/files.hpp"
#include "system/unmap_queue.hpp"
#include "system/cancellation_guard.hpp"

#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif
#ifndef PATH_MAX
#define PATH_MAX 4096
#endif
#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

std::error_code file_failure(int error) noexcept { return {error, std::system_category()}; }

// Makes a call that returns -1 and sets errno on failure, unless a test refuses it; again if a signal interrupts. Not cancellable.
template <class Call>
std::error_code try_file_call(page_call kind, Call call) noexcept {
    if (const int refused = intercept(kind)) return file_failure(refused);
    const errno_guard unchanged;
    const cancellation_guard throughout;
    for (;;) {
        if (call() != -1) return {};
        if (errno != EINTR) break;
    }
    const int error = errno;
    count_refusal();
    return file_failure(error);
}

int descriptor_of(file_handle file) noexcept { return static_cast<int>(file.value); }

// Converting a path allocates only on Windows.
const char* native_path(const std::filesystem::path& path) noexcept { return path.c_str(); }

file_handle open_path(const char* name, int flags, unsigned permissions, std::error_code& error) noexcept {
    int number = -1;
    error =
        try_file_call(page_call::file, [&] { return number = open(name, flags | O_CLOEXEC, static_cast<mode_t>(permissions)); });
    return error ? file_handle{} : file_handle{number};
}

// Returns the longest file that the program can address or may write: past a limit of the process the system sends a signal.
std::uint64_t max_file_bytes() noexcept {
    std::uint64_t longest = static_cast<std::uint64_t>((std::numeric_limits<off_t>::max)());
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        longest = (std::min)(longest, static_cast<std::uint64_t>(limit.rlim_cur));
    }
    return longest;
}

std::error_code write_zeros(file_handle file, std::uint64_t from, std::uint64_t to) noexcept {
    static constexpr std::byte zeros[4096]{};    // part of every program, whatever its file system
    while (from < to) {
        const auto bytes = static_cast<std::size_t>((std::min<std::uint64_t>)(sizeof zeros, to - from));
        if (const std::error_code error = write_at(file, from, zeros, bytes)) return error;
        from += bytes;
    }
    return {};
}

// True if the file system, the kernel or a filter of system calls lacks the call.
bool is_unsupported(const std::error_code& error) noexcept {
    return error == std::errc::operation_not_supported || error == std::errc::function_not_supported ||
           error == std::errc::invalid_argument || error == std::errc::operation_not_permitted;
}

// Name of a file's directory. Allocates nothing, because the durability of a new file must not depend on that.
struct directory_of {
    char name[PATH_MAX] = ".";
    explicit directory_of(const std::filesystem::path& path) noexcept {
        const std::string& whole = path.native();
        const std::size_t end = whole.rfind('/');
        if (end == std::string::npos) return;
        const std::size_t length = (std::max)(end, std::size_t{1});
        name[length < sizeof name ? whole.copy(name, length) : 0] = '\0';    // a longer name is left out: no call accepts it
    }
};

// Allocates disk space for a part of the file, which is extended to its end.
std::error_code allocate_space([[maybe_unused]] file_handle file, [[maybe_unused]] std::uint64_t from,
                               [[maybe_unused]] std::uint64_t to) noexcept {
#if defined(__linux__)
    const auto call = [=] { return fallocate(descriptor_of(file), 0, static_cast<off_t>(from), static_cast<off_t>(to - from)); };
    return try_file_call(page_call::file, [=] {
        const int done = call();
        if (done != -1 || errno != EINTR) return done;
        // Some file systems (tmpfs before Linux 6.12) stop at any signal and undo their work. With frequent signals, as of a profiler's
        // timer, retrying would never end, so signals are blocked.
        sigset_t all, before;
        sigfillset(&all);
        if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return done;
        const int again = call();
        const int error = errno;
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        errno = error;
        return again;
    });
#else
    // posix_fallocate is missing on some systems, and writes a byte of each block on others.
    return std::make_error_code(std::errc::function_not_supported);
#endif
}

#if defined(F_OFD_SETLK)
struct flock part_of(file_lock which, short kind = F_WRLCK) noexcept {
    struct flock part{};
    part.l_type = kind;
    part.l_whence = SEEK_SET;
    part.l_start = static_cast<off_t>(which);
    part.l_len = 1;
    return part;
}
#endif

}    // namespace

std::error_code disk_quota_exceeded() noexcept { return file_failure(EDQUOT); }

file_handle open_file(const std::filesystem::path& path, bool writable, std::error_code& error) noexcept {
    // Does not wait for the other end of a pipe; refuses everything but regular files.
    const file_handle file = open_path(native_path(path), (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK, 0, error);
    if (error) return {};
    struct stat about{};
    error = try_file_call(page_call::file, [&] { return fstat(descriptor_of(file), &about); });
    if (!error && !S_ISREG(about.st_mode)) {
        error = std::make_error_code(S_ISDIR(about.st_mode) ? std::errc::is_a_directory : std::errc::invalid_argument);
    }
    if (error) {
        close_file(file);
        return {};
    }
    return file;
}

file_handle create_file(const std::filesystem::path& path, unsigned permissions, bool& named, std::error_code& error) noexcept {
    named = false;
    const errno_guard unchanged;
#if defined(O_TMPFILE)
    // A file without a name is never found incomplete. linkat() names it by its number in /proc.
    if (::access("/proc/self/fd", F_OK) == 0) {
        const file_handle file = open_path(directory_of(path).name, O_RDWR | O_TMPFILE, permissions, error);
        if (!error) return file;
    }
    if (error == std::errc::not_enough_memory || error == std::errc::no_space_on_device) return {};
#endif
    named = true;
    return open_path(native_path(path), O_RDWR | O_CREAT | O_EXCL, permissions, error);
}

std::error_code link_file(file_handle file, const std::filesystem::path& path) noexcept {
#if defined(O_TMPFILE)
    char self[40];
    std::snprintf(self, sizeof self, "/proc/self/fd/%d", descriptor_of(file));
    return try_file_call(page_call::file, [&] { return linkat(AT_FDCWD, self, AT_FDCWD, native_path(path), AT_SYMLINK_FOLLOW); });
#else
    static_cast<void>(file);
    static_cast<void>(path);
    return std::make_error_code(std::errc::function_not_supported);
#endif
}

file_handle reopen_file([[maybe_unused]] file_handle file, const std::filesystem::path& path, bool writable,
                        std::error_code& error) noexcept {
    const int flags = writable ? O_RDWR : O_RDONLY;
#if defined(__linux__)
    // By its number, if there is /proc: the name may belong to another file by now, or not exist yet.
    char self[40];
    std::snprintf(self, sizeof self, "/proc/self/fd/%d", descriptor_of(file));
    const file_handle again = open_path(self, flags, 0, error);
    if (!error || error != std::errc::no_such_file_or_directory) return again;
#endif
    return open_path(native_path(path), flags, 0, error);
}

void close_file(file_handle file) noexcept {
    const errno_guard unchanged;
    const cancellation_guard throughout;
    if (file) close(descriptor_of(file));
}

std::error_code stat_file(file_handle file, file_facts& facts) noexcept {
#if defined(STATX_INO) && (!defined(__ANDROID_API__) || __ANDROID_API__ >= 30)
    // Without timestamps: once a program has read them, Linux (from 6.13 on) gives the next change a new one, and every commit writes the
    // inode. Sandboxes and old kernels refuse the call with various errors, which are not counted: fstat reports real ones.
    const errno_guard unchanged;
    struct statx parts{};
    if (intercept(page_call::file) == 0 &&
        statx(descriptor_of(file), "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_SIZE, &parts) == 0) {
        facts.identity = {makedev(parts.stx_dev_major, parts.stx_dev_minor), parts.stx_ino};
        facts.bytes = parts.stx_size;
        return {};
    }
#endif
    struct stat about{};
    const std::error_code error = try_file_call(page_call::file, [&] { return fstat(descriptor_of(file), &about); });
    if (!error) {
        facts.identity = {static_cast<std::uint64_t>(about.st_dev), static_cast<std::uint64_t>(about.st_ino)};
        facts.bytes = static_cast<std::uint64_t>(about.st_size);
    }
    return error;
}

std::error_code truncate_file(file_handle file, std::uint64_t bytes) noexcept {
    notify_observer(testing::file_event::before_write);
    return try_file_call(page_call::file, [=] { return ftruncate(descriptor_of(file), static_cast<off_t>(bytes)); });
}

std::error_code truncate_file_if_unread(file_handle file, [[maybe_unused]] file_handle lock, std::uint64_t bytes) noexcept {
#if defined(F_OFD_SETLK)
    if (const std::error_code error = try_lock_file(lock, file_lock::readers)) return error;
    const std::error_code error = truncate_file(file, bytes);
    const errno_guard unchanged;
    struct flock part = part_of(file_lock::readers, F_UNLCK);
    (void)fcntl(descriptor_of(lock), F_OFD_SETLK, &part);
    return error;
#else
    return truncate_file(file, bytes);
#endif
}

void lock_as_reader([[maybe_unused]] file_handle file) noexcept {
#if defined(F_OFD_SETLKW)
    struct flock part = part_of(file_lock::readers, F_RDLCK);
    (void)try_file_call(page_call::file, [&] { return fcntl(descriptor_of(file), F_OFD_SETLKW, &part); });
#endif
}

std::error_code allocate_file_space(file_handle file, std::uint64_t from, std::uint64_t to, bool& written) noexcept {
    const errno_guard unchanged;
    const cancellation_guard throughout;
    written = false;
    if (to > max_file_bytes()) return std::make_error_code(std::errc::file_too_large);
    notify_observer(testing::file_event::before_write);
    std::error_code error = allocate_space(file, from, to);
    written = is_unsupported(error);
    if (written) error = write_zeros(file, from, to);
    // A part may have been allocated. GCC warns of results that a cast to void discards where glibc is fortified.
    if (error) {
        [[maybe_unused]] const int unchecked = ftruncate(descriptor_of(file), static_cast<off_t>(from));
    }
    return error;
}

std::error_code allocate_holes(file_handle file, std::uint64_t bytes) noexcept {
    if (bytes == 0) return {};
    const errno_guard unchanged;
    const cancellation_guard throughout;
    const std::error_code error = allocate_space(file, 0, bytes);
    if (!is_unsupported(error)) return error;
#if defined(SEEK_HOLE)
    for (off_t at = 0; static_cast<std::uint64_t>(at) < bytes;) {
        const off_t hole = lseek(descriptor_of(file), at, SEEK_HOLE);
        if (hole < 0 || static_cast<std::uint64_t>(hole) >= bytes) break;
        off_t data = lseek(descriptor_of(file), hole, SEEK_DATA);
        if (data < 0) data = static_cast<off_t>(bytes);
        if (const std::error_code refused =
                write_zeros(file, static_cast<std::uint64_t>(hole), static_cast<std::uint64_t>(data))) {
            return refused;
        }
        at = data;
    }
#endif
    return {};
}

std::error_code read_at(file_handle file, std::uint64_t offset, void* to, std::size_t bytes, std::size_t& got) noexcept {
    got = 0;
    while (got < bytes) {
        ssize_t now = 0;
        const std::error_code error = try_file_call(page_call::file, [&] {
            return now = pread(descriptor_of(file), static_cast<std::byte*>(to) + got, bytes - got,
                               static_cast<off_t>(offset + got));
        });
        if (error) return error;
        if (now == 0) break;
        got += static_cast<std::size_t>(now);
    }
    return {};
}

std::error_code write_at(file_handle file, std::uint64_t offset, const void* from, std::size_t bytes) noexcept {
    if (offset + bytes > max_file_bytes()) return std::make_error_code(std::errc::file_too_large);
    notify_observer(testing::file_event::before_write);
    std::size_t done = 0;
    while (done < bytes) {
        ssize_t now = 0;
        const std::error_code error = try_file_call(page_call::file, [&] {
            return now = pwrite(descriptor_of(file), static_cast<const std::byte*>(from) + done, bytes - done,
                                static_cast<off_t>(offset + done));
        });
        if (error) return error;
        if (now == 0) return std::make_error_code(std::errc::io_error);    // it would not end
        done += static_cast<std::size_t>(now);
    }
    return {};
}

std::error_code sync_file(file_handle file, page_range) noexcept {
    notify_observer(testing::file_event::before_sync);
    const std::error_code error = try_file_call(page_call::sync, [=] {
#if defined(F_FULLFSYNC)
        // There fsync() leaves data in the disk's own cache. Not all file systems have the stronger call.
        if (fcntl(descriptor_of(file), F_FULLFSYNC) != -1) return 0;
        return fsync(descriptor_of(file));
#elif defined(__linux__)
        return fdatasync(descriptor_of(file));
#else
        return fsync(descriptor_of(file));
#endif
    });
    if (!error) notify_observer(testing::file_event::synced);
    return error;
}

void sync_directory_of(const std::filesystem::path& path) noexcept {
    std::error_code error;
    const file_handle file = open_path(directory_of(path).name, O_RDONLY, 0, error);
    if (error) return;
    (void)try_file_call(page_call::sync, [=] { return fsync(descriptor_of(file)); });
    close_file(file);
}

std::error_code try_lock_file(file_handle file, [[maybe_unused]] file_lock which) noexcept {
    std::error_code error;
#if defined(F_OFD_SETLK)
    struct flock part = part_of(which);
    error = try_file_call(page_call::file, [&] { return fcntl(descriptor_of(file), F_OFD_SETLK, &part); });
#else
    // One lock for the whole file, of the handle.
    error = try_file_call(page_call::file, [=] { return flock(descriptor_of(file), LOCK_EX | LOCK_NB); });
#endif
    // POSIX allows two error codes for it.
    if (error == std::errc::permission_denied) return std::make_error_code(std::errc::resource_unavailable_try_again);
    return error;
}

void release_locks(file_handle file) noexcept {
    const errno_guard unchanged;
    const cancellation_guard throughout;
#if defined(F_OFD_SETLK)
    struct flock all{};
    all.l_type = F_UNLCK;
    all.l_whence = SEEK_SET;
    (void)fcntl(descriptor_of(file), F_OFD_SETLK, &all);
#else
    (void)flock(descriptor_of(file), LOCK_UN);
#endif
}

bool is_locked_by_other(file_handle file, [[maybe_unused]] file_lock which) noexcept {
#if defined(F_OFD_SETLK)
    struct flock part = part_of(which);
    if (try_file_call(page_call::file, [&] { return fcntl(descriptor_of(file), F_OFD_GETLK, &part); })) return false;
    return part.l_type != F_UNLCK;
#else
    if (const std::error_code error =
            try_file_call(page_call::file, [=] { return flock(descriptor_of(file), LOCK_SH | LOCK_NB); })) {
        return error == std::errc::resource_unavailable_try_again;
    }
    (void)flock(descriptor_of(file), LOCK_UN);
    return false;
#endif
}

page_range reserve_for_file(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept {
    return reserve(bytes, alignment, error);
}

page_range map_first_page(file_handle file, bool writable, std::error_code& error) noexcept {
    void* data = nullptr;
    error = try_file_call(page_call::file, [&] {
        data = mmap(nullptr, page_size(), writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor_of(file), 0);
        return data == MAP_FAILED ? -1 : 0;
    });
    return error ? page_range{} : page_range{static_cast<std::byte*>(data), page_size()};
}

// How the file was opened decides whether pages can become writable later.
std::error_code prepare_file_range(page_range range, file_handle file, [[maybe_unused]] bool writable) noexcept {
    return try_file_call(page_call::file, [=] {
        return mmap(range.data, range.bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, descriptor_of(file), 0) == MAP_FAILED ? -1 : 0;
    });
}

// The whole file is mapped already.
std::error_code map_file_pages(page_range pages, file_handle, std::uint64_t, bool writable) noexcept {
    return writable ? commit(pages) : protect(pages, access::read_only);
}

std::error_code protect_file_pages(page_range pages, access allowed) noexcept { return protect(pages, allowed); }

void unmap_first_page(page_range page) noexcept {
    if (!release(page)) return;
    (void)unmap_file_range(page);    // an address that stays for a while shows nothing of the file
    unmap_or_queue(page);
}

std::error_code unmap_file_range(page_range range) noexcept {
    return try_file_call(page_call::file, [=] {
        return mmap(range.data, range.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? -1 : 0;
    });
}

}}}    // namespace headroom::detail
