// SPDX-License-Identifier: MIT
// The state of an open file, shared by a container's calls and the fork handlers.
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
    // Has a writer's locks; a reader's is on `file`. Not the mapped handle, because a mapping that a forked child inherits would keep them.
    file_handle lock;
    file_identity which;    // identity of both handles' file: their numbers may become another file's

    range* place = nullptr;
    page_range live_page{};    // a second mapping of the header's page, out of reach of stray writes
    access allowed = access::read_write;

    std::uint64_t file_bytes = 0;    // known length of the file
    // Largest step by which it may grow: halved by a refusal, doubled by a success, since a full disk takes long to refuse each.
    std::uint64_t max_step = UINT64_MAX;
    bool trusts_live = false;    // reader or forked child: a writer has published, or had published, the live size

    file_record committed;            // the newest record
    bool found = false;               // opened, and not committed since: the record may be only in the system's memory, if its
                                      // commit may have failed
    std::uint64_t last_commit = 0;    // bytes in use then
    std::uint64_t huge_until = 0;     // bytes from the file's beginning advised to huge pages
    std::uint64_t written = 0;        // bytes from its beginning taken to be initialised on the disk

    bool listed = false;            // in the list of this process's writers
    opened_file* next = nullptr;    // in that list
    opened_file* previous = nullptr;

    // True for a writer, also a failed one: pages are mapped writable from then on.
    [[nodiscard]] bool has_writable_mapping() const noexcept { return role == file_role::writer || role == file_role::failed; }
    [[nodiscard]] std::atomic<std::uint64_t>& live() const noexcept {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(live_page.data + live_offset);
    }
};

}}}    // namespace headroom::detail
