// Files on Windows. What is here lets files be looked at and mended ("headroom file"); showing one in a reserved range is not:
// there a mapping covers what the file had when it was made, a larger one is a new mapping, and neither can be put into a range
// that VirtualAlloc reserved. (Placeholders, since Windows 10 1803, can; docs/platforms.md.)
#ifndef NOMINMAX
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#endif
#include <windows.h>

#include <algorithm>

#include "system/calls.hpp"
#include "system/files.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

std::error_code file_failure() noexcept {
    const DWORD error = GetLastError();
    switch (error) {
        case ERROR_DISK_FULL:
        case ERROR_HANDLE_DISK_FULL: return std::make_error_code(std::errc::no_space_on_device);
        case ERROR_LOCK_VIOLATION:
        case ERROR_IO_PENDING: return std::make_error_code(std::errc::resource_unavailable_try_again);
        default: return {static_cast<int>(error), std::system_category()};
    }
}

template <class Call>
std::error_code try_file_call(page_call kind, Call call) noexcept {
    if (const int refused = intercept(kind)) return {refused, std::generic_category()};
    if (call()) return {};
    note_refusal();
    return file_failure();
}

HANDLE handle_of(file_handle file) noexcept { return reinterpret_cast<HANDLE>(file.value); }

file_handle opened(const std::filesystem::path& path, DWORD rights, DWORD how, std::error_code& error) noexcept {
    HANDLE handle = INVALID_HANDLE_VALUE;
    error = try_file_call(page_call::file, [&] {
        handle = CreateFileW(path.c_str(), rights, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, how,
                             FILE_ATTRIBUTE_NORMAL, nullptr);
        return handle != INVALID_HANDLE_VALUE;
    });
    return error ? file_handle{} : file_handle{reinterpret_cast<std::intptr_t>(handle)};
}

OVERLAPPED at_offset(std::uint64_t offset) noexcept {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    return place;
}

// Locks are obstacles to reading here: they lie where no byte of a file is.
OVERLAPPED place_of(file_lock which) noexcept { return at_offset((std::uint64_t{1} << 62) + static_cast<std::uint64_t>(which)); }

bool set_end(file_handle file, std::uint64_t bytes) noexcept {
    FILE_END_OF_FILE_INFO end{};
    end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
    return SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &end, sizeof end) != 0;
}

}    // namespace

std::error_code disk_quota_exceeded() noexcept {
    constexpr int quota_exceeded = 1295;    // ERROR_DISK_QUOTA_EXCEEDED, which not all headers know
    return {quota_exceeded, std::system_category()};
}

file_handle open_file(const std::filesystem::path& path, bool writable, std::error_code& error) noexcept {
    return opened(path, writable ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ, OPEN_EXISTING, error);
}

file_handle make_file(const std::filesystem::path& path, unsigned, bool& named, std::error_code& error) noexcept {
    named = true;
    return opened(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, error);
}

std::error_code give_name(file_handle, const std::filesystem::path&) noexcept {
    return std::make_error_code(std::errc::function_not_supported);
}

file_handle open_again(file_handle, const std::filesystem::path& path, bool writable, std::error_code& error) noexcept {
    return open_file(path, writable, error);
}

void close_file(file_handle file) noexcept {
    if (file) CloseHandle(handle_of(file));
}

std::error_code size_of_file(file_handle file, std::uint64_t& bytes) noexcept {
    LARGE_INTEGER size{};
    const std::error_code error = try_file_call(page_call::file, [&] { return GetFileSizeEx(handle_of(file), &size) != 0; });
    if (!error) bytes = static_cast<std::uint64_t>(size.QuadPart);
    return error;
}

std::error_code cut_file(file_handle file, std::uint64_t bytes) noexcept {
    tell_watcher(testing::file_event::before_write);
    return try_file_call(page_call::file, [=] { return set_end(file, bytes); });
}

std::error_code allocate(file_handle file, std::uint64_t, std::uint64_t to) noexcept {
    tell_watcher(testing::file_event::before_write);
    // A file that is not sparse has space for all of its bytes.
    return try_file_call(page_call::file, [=] { return set_end(file, to); });
}

std::error_code fill_holes(file_handle, std::uint64_t) noexcept { return {}; }

std::error_code read_at(file_handle file, std::uint64_t offset, void* to, std::size_t bytes, std::size_t& got) noexcept {
    got = 0;
    while (got < bytes) {
        OVERLAPPED place = at_offset(offset + got);
        DWORD now = 0;
        const auto most = static_cast<DWORD>((std::min<std::size_t>)(bytes - got, std::size_t{1} << 30));
        const std::error_code error = try_file_call(page_call::file, [&] {
            return ReadFile(handle_of(file), static_cast<std::byte*>(to) + got, most, &now, &place) != 0 ||
                   GetLastError() == ERROR_HANDLE_EOF;
        });
        if (error) return error;
        if (now == 0) break;
        got += now;
    }
    return {};
}

std::error_code write_at(file_handle file, std::uint64_t offset, const void* from, std::size_t bytes) noexcept {
    tell_watcher(testing::file_event::before_write);
    std::size_t done = 0;
    while (done < bytes) {
        OVERLAPPED place = at_offset(offset + done);
        DWORD now = 0;
        const auto most = static_cast<DWORD>((std::min<std::size_t>)(bytes - done, std::size_t{1} << 30));
        const std::error_code error = try_file_call(page_call::file, [&] {
            return WriteFile(handle_of(file), static_cast<const std::byte*>(from) + done, most, &now, &place) != 0;
        });
        if (error) return error;
        done += now;
    }
    return {};
}

std::error_code sync_file(file_handle file) noexcept {
    tell_watcher(testing::file_event::before_sync);
    const std::error_code error = try_file_call(page_call::sync, [=] { return FlushFileBuffers(handle_of(file)) != 0; });
    if (!error) tell_watcher(testing::file_event::synced);
    return error;
}

void sync_folder_of(const std::filesystem::path&) noexcept {}

std::error_code take_lock(file_handle file, file_lock which) noexcept {
    OVERLAPPED place = place_of(which);
    return try_file_call(page_call::file, [&] {
        return LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0;
    });
}

void release_locks(file_handle) noexcept {}    // nothing forks: closing the handle is enough

bool is_locked(file_handle file, file_lock which) noexcept {
    if (take_lock(file, which)) return true;
    OVERLAPPED place = place_of(which);
    UnlockFileEx(handle_of(file), 0, 1, 0, &place);
    return false;
}

std::error_code map_file(page_range, file_handle, bool) noexcept {
    return std::make_error_code(std::errc::function_not_supported);
}
std::error_code unmap_file(page_range) noexcept { return std::make_error_code(std::errc::function_not_supported); }

}}}    // namespace headroom::detail
