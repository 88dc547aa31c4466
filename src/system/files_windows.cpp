// SPDX-License-Identifier: MIT
// Files on Windows. A view covers what its section covered when it was made, so each growth step is a view of its own. Their addresses are
// reserved as placeholders (Windows 10 1803), which views replace one by one; without them files can only be inspected and repaired.
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "system/calls.hpp"
#include "system/files.hpp"
#include "system/unmap_queue.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

std::error_code file_failure() noexcept {
    const DWORD error = GetLastError();
    switch (error) {
        case ERROR_DISK_FULL:
        case ERROR_HANDLE_DISK_FULL: return std::make_error_code(std::errc::no_space_on_device);
        case ERROR_LOCK_VIOLATION:
        case ERROR_IO_PENDING: return std::make_error_code(std::errc::resource_unavailable_try_again);
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_OUTOFMEMORY:
        case ERROR_COMMITMENT_LIMIT:
        case ERROR_INVALID_ADDRESS: return std::make_error_code(std::errc::not_enough_memory);
        default: return {static_cast<int>(error), std::system_category()};
    }
}

template <class Call>
std::error_code try_file_call(page_call kind, Call call) noexcept {
    if (const int refused = intercept(kind)) return {refused, std::generic_category()};
    if (call()) return {};
    count_refusal();
    return file_failure();
}

HANDLE handle_of(file_handle file) noexcept { return reinterpret_cast<HANDLE>(file.value); }

file_handle open_path(const std::filesystem::path& path, DWORD protection, DWORD how, std::error_code& error) noexcept {
    HANDLE handle = INVALID_HANDLE_VALUE;
    error = try_file_call(page_call::file, [&] {
        handle = CreateFileW(path.c_str(), protection, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, how,
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

// Locks block reading here, so they are at offsets beyond any file.
OVERLAPPED place_of(file_lock which) noexcept { return at_offset((std::uint64_t{1} << 62) + static_cast<std::uint64_t>(which)); }

// Missing in older libraries and headers.
constexpr DWORD reserve_placeholder = 0x40000;    // MEM_RESERVE_PLACEHOLDER
constexpr DWORD replace_placeholder = 0x4000;     // MEM_REPLACE_PLACEHOLDER
constexpr DWORD preserve_placeholder = 0x2;       // MEM_PRESERVE_PLACEHOLDER
constexpr DWORD coalesce_placeholders = 0x1;      // MEM_COALESCE_PLACEHOLDERS

struct placeholder_calls {
    void*(WINAPI* virtual_alloc2)(HANDLE, void*, SIZE_T, ULONG, ULONG, void*, ULONG) = nullptr;
    void*(WINAPI* map)(HANDLE, HANDLE, void*, ULONG64, SIZE_T, ULONG, ULONG, void*, ULONG) = nullptr;
    BOOL(WINAPI* unmap)(HANDLE, void*, ULONG) = nullptr;

    placeholder_calls() noexcept {
        const HMODULE library = GetModuleHandleW(L"kernelbase.dll");
        if (library == nullptr) return;
        const auto find = [library](auto& call, const char* name) {
            call =
                reinterpret_cast<std::remove_reference_t<decltype(call)>>(reinterpret_cast<void*>(GetProcAddress(library, name)));
        };
        find(map, "MapViewOfFile3");
        find(unmap, "UnmapViewOfFile2");
        if (map != nullptr && unmap != nullptr) find(virtual_alloc2, "VirtualAlloc2");
    }
};
const placeholder_calls& placeholders() noexcept {
    static const placeholder_calls found;
    return found;
}

// Calls visit(region) for each region of the range in order; stops if that returns false, and returns false then.
template <class Visit>
bool each_region(page_range range, Visit visit) noexcept {
    std::byte* const end = range.data + range.bytes;
    for (std::byte* at = range.data; at < end;) {
        MEMORY_BASIC_INFORMATION region;
        if (VirtualQuery(at, &region, sizeof region) == 0) return false;
        std::byte* const next = (std::min)(end, static_cast<std::byte*>(region.BaseAddress) + region.RegionSize);
        if (!visit(page_range{at, static_cast<std::size_t>(next - at)}, region)) return false;
        at = next;
    }
    return true;
}
bool is_shown(const MEMORY_BASIC_INFORMATION& region) noexcept { return region.State == MEM_COMMIT && region.Type == MEM_MAPPED; }

// Splits a placeholder so that `part` is one of its own.
bool split(page_range part) noexcept {
    MEMORY_BASIC_INFORMATION region;
    if (VirtualQuery(part.data, &region, sizeof region) == 0) return false;
    if (region.AllocationBase == part.data && region.RegionSize == part.bytes) return true;
    return VirtualFree(part.data, part.bytes, MEM_RELEASE | preserve_placeholder) != 0;
}

DWORD rights_for(access allowed) noexcept {
    return allowed == access::none ? PAGE_NOACCESS : allowed == access::read_only ? PAGE_READONLY : PAGE_READWRITE;
}

// Sets the access of the mapped views in `pages`; skips other pages. False if refused: the first ones may have changed.
bool protect_views(page_range pages, access allowed) noexcept {
    return each_region(pages, [=](page_range part, const MEMORY_BASIC_INFORMATION& region) {
        DWORD before;
        return !is_shown(region) || VirtualProtect(part.data, part.bytes, rights_for(allowed), &before) != 0;
    });
}

bool set_end(file_handle file, std::uint64_t bytes) noexcept {
    FILE_END_OF_FILE_INFO end{};
    end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
    return SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &end, sizeof end) != 0;
}

}    // namespace

std::error_code disk_quota_exceeded() noexcept {
    constexpr int quota_exceeded = 1295;    // ERROR_DISK_QUOTA_EXCEEDED, missing in some headers
    return {quota_exceeded, std::system_category()};
}

file_handle open_file(const std::filesystem::path& path, bool writable, std::error_code& error) noexcept {
    return open_path(path, writable ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ, OPEN_EXISTING, error);
}

file_handle create_file(const std::filesystem::path& path, unsigned, bool& named, std::error_code& error) noexcept {
    named = true;
    return open_path(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, error);
}

std::error_code link_file(file_handle, const std::filesystem::path&) noexcept {
    return std::make_error_code(std::errc::function_not_supported);
}

file_handle reopen_file(file_handle, const std::filesystem::path& path, bool writable, std::error_code& error) noexcept {
    return open_file(path, writable, error);
}

void close_file(file_handle file) noexcept {
    if (file) CloseHandle(handle_of(file));
}

std::error_code stat_file(file_handle file, file_facts& facts) noexcept {
    BY_HANDLE_FILE_INFORMATION about{};
    const std::error_code error =
        try_file_call(page_call::file, [&] { return GetFileInformationByHandle(handle_of(file), &about) != 0; });
    if (!error) {
        const auto joined = [](DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; };
        facts.identity = {about.dwVolumeSerialNumber, joined(about.nFileIndexHigh, about.nFileIndexLow)};
        facts.bytes = joined(about.nFileSizeHigh, about.nFileSizeLow);
    }
    return error;
}

std::error_code truncate_file(file_handle file, std::uint64_t bytes) noexcept {
    notify_observer(testing::file_event::before_write);
    return try_file_call(page_call::file, [=] { return set_end(file, bytes); });
}

// The system does not truncate a mapped file.
std::error_code truncate_file_if_unread(file_handle file, file_handle, std::uint64_t bytes) noexcept {
    return truncate_file(file, bytes);
}
void lock_as_reader(file_handle) noexcept {}

std::error_code allocate_file_space(file_handle file, std::uint64_t, std::uint64_t to, bool& written) noexcept {
    written = false;
    notify_observer(testing::file_event::before_write);
    // A file that is not sparse has space for all of its bytes. It is longer if it could not be truncated while mapped.
    return try_file_call(page_call::file, [=] {
        LARGE_INTEGER size{};
        if (!GetFileSizeEx(handle_of(file), &size)) return false;
        return static_cast<std::uint64_t>(size.QuadPart) >= to || set_end(file, to);
    });
}

std::error_code allocate_holes(file_handle, std::uint64_t) noexcept { return {}; }

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
    notify_observer(testing::file_event::before_write);
    std::size_t done = 0;
    while (done < bytes) {
        OVERLAPPED place = at_offset(offset + done);
        DWORD now = 0;
        const auto most = static_cast<DWORD>((std::min<std::size_t>)(bytes - done, std::size_t{1} << 30));
        const std::error_code error = try_file_call(page_call::file, [&] {
            return WriteFile(handle_of(file), static_cast<const std::byte*>(from) + done, most, &now, &place) != 0;
        });
        if (error) return error;
        if (now == 0) return std::make_error_code(std::errc::io_error);    // it would not end
        done += now;
    }
    return {};
}

std::error_code sync_file(file_handle file, page_range shown) noexcept {
    notify_observer(testing::file_event::before_sync);
    const std::error_code error = try_file_call(page_call::sync, [=] {
        // Writes to views reach the file only by FlushViewOfFile().
        return each_region(shown,
                           [](page_range part, const MEMORY_BASIC_INFORMATION& region) {
                               return !is_shown(region) || FlushViewOfFile(part.data, part.bytes) != 0;
                           }) &&
               FlushFileBuffers(handle_of(file)) != 0;
    });
    if (!error) notify_observer(testing::file_event::synced);
    return error;
}

void sync_directory_of(const std::filesystem::path&) noexcept {}

namespace {

bool lock_now(file_handle file, file_lock which) noexcept {
    OVERLAPPED place = place_of(which);
    return LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0;
}

}    // namespace

std::error_code try_lock_file(file_handle file, file_lock which) noexcept {
    return try_file_call(page_call::file, [&] {
        // A reader that tests the lock holds it for a moment: tries a few times.
        for (int tries = 0; tries < 20; ++tries) {
            if (tries != 0) Sleep(1);
            if (lock_now(file, which)) return true;
            if (GetLastError() != ERROR_LOCK_VIOLATION && GetLastError() != ERROR_IO_PENDING) return false;
        }
        return false;
    });
}

void release_locks(file_handle) noexcept {}    // nothing forks: closing the handle is enough

bool is_locked_by_other(file_handle file, file_lock which) noexcept {
    if (intercept(page_call::file) != 0) return false;
    // Without locks, none is held.
    if (!lock_now(file, which)) return GetLastError() == ERROR_LOCK_VIOLATION || GetLastError() == ERROR_IO_PENDING;
    OVERLAPPED place = place_of(which);
    UnlockFileEx(handle_of(file), 0, 1, 0, &place);
    return false;
}

page_range reserve_for_file(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept {
    error.clear();
    const placeholder_calls& system = placeholders();
    if (system.virtual_alloc2 == nullptr) {
        error = std::make_error_code(std::errc::function_not_supported);
        return {};
    }
    if (const int refused = intercept(page_call::reserve)) {
        error = {refused, std::generic_category()};
        return {};
    }
    const std::size_t limit = overridden_address_limit();
    if (!is_reservable(bytes, alignment) || (limit != 0 && bytes > limit)) {
        error = std::make_error_code(std::errc::not_enough_memory);
        return {};
    }
    bytes = round_up(bytes, page_size());
    auto* const first = static_cast<std::byte*>(system.virtual_alloc2(
        GetCurrentProcess(), nullptr, bytes + alignment, MEM_RESERVE | reserve_placeholder, PAGE_NOACCESS, nullptr, 0));
    if (first == nullptr) {
        count_refusal();
        // A system that has the function but not placeholders reports an invalid argument.
        error =
            GetLastError() == ERROR_INVALID_PARAMETER ? std::make_error_code(std::errc::function_not_supported) : file_failure();
        return {};
    }
    std::byte* const begin = aligned_within({first, bytes + alignment}, alignment);
    const page_range before{first, static_cast<std::size_t>(begin - first)};
    const page_range behind{begin + bytes, alignment - before.bytes};
    if (!split({begin, bytes})) {
        count_refusal();
        error = file_failure();
        (void)VirtualFree(first, 0, MEM_RELEASE);
        return {};
    }
    if ((before.bytes != 0 && !VirtualFree(before.data, 0, MEM_RELEASE)) ||
        (behind.bytes != 0 && !VirtualFree(behind.data, 0, MEM_RELEASE))) {
        count_refusal();
        error = file_failure();
        (void)VirtualFree(begin, 0, MEM_RELEASE);
        return {};
    }
    return {begin, bytes};
}

page_range map_first_page(file_handle file, bool writable, std::error_code& error) noexcept {
    const page_range page = reserve_for_file(page_size(), page_size(), error);
    if (error) return {};
    error = map_file_pages(page, file, 0, writable);
    if (!error) return page;
    unmap_or_queue(page);
    return {};
}

std::error_code prepare_file_range(page_range, file_handle, bool) noexcept { return {}; }    // done by map_file_pages()

std::error_code map_file_pages(page_range pages, file_handle file, std::uint64_t offset, bool writable) noexcept {
    return try_file_call(page_call::file, [=] {
        LARGE_INTEGER size{};
        if (!GetFileSizeEx(handle_of(file), &size)) return false;
        const HANDLE section =
            CreateFileMappingW(handle_of(file), nullptr, writable ? PAGE_READWRITE : PAGE_READONLY, 0, 0, nullptr);
        if (section == nullptr) return false;
        const access allowed = writable ? access::read_write : access::read_only;
        const bool done = each_region(pages, [=](page_range part, const MEMORY_BASIC_INFORMATION& region) {
            // Mapped before the file was truncated, and again now.
            if (is_shown(region)) return protect_views(part, allowed);
            const std::uint64_t from = offset + static_cast<std::uint64_t>(part.data - pages.data);
            // The file may end within the last page, and a view ends with its section.
            const std::uint64_t left = static_cast<std::uint64_t>(size.QuadPart) - from;
            const auto bytes = static_cast<std::size_t>((std::min<std::uint64_t>)(part.bytes, left));
            return split(part) && placeholders().map(section, GetCurrentProcess(), part.data, from, bytes, replace_placeholder,
                                                     rights_for(allowed), nullptr, 0) != nullptr;
        });
        const DWORD why = GetLastError();
        CloseHandle(section);
        SetLastError(why);
        return done;
    });
}

std::error_code protect_file_pages(page_range pages, access allowed) noexcept {
    return try_file_call(page_call::protect, [=] { return protect_views(pages, allowed); });
}

// Not refused for tests: unmapping a view needs nothing, and one left mapped could not be released as addresses.
void unmap_first_page(page_range page) noexcept {
    (void)unmap_file_range(page);
    unmap_or_queue(page);
}

std::error_code unmap_file_range(page_range range) noexcept {
    int pieces = 0;
    const bool unmapped = each_region(range, [&](page_range part, const MEMORY_BASIC_INFORMATION& region) {
        ++pieces;
        // A view with parts of different access has several regions; the first represents all.
        return !is_shown(region) || region.AllocationBase != part.data ||
               placeholders().unmap(GetCurrentProcess(), part.data, preserve_placeholder) != 0;
    });
    if (unmapped && (pieces < 2 || VirtualFree(range.data, range.bytes, MEM_RELEASE | coalesce_placeholders) != 0)) return {};
    count_refusal();
    return file_failure();
}

}}}    // namespace headroom::detail
