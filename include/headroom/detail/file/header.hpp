// SPDX-License-Identifier: MIT
// The header of a file, its first 4096 bytes: layout, writing and reading. Pure functions of bytes.
//
//      0  identity: size, alignment and tag of the elements; a checksum over all of the sector
//    512  record 0  \ {generation, size, checksum}, twice each: at the sector's beginning and in its middle. A commit writes
//   1024  record 1  / the older of the two, so that a power cut in between leaves the other
//   1536  live size: elements that the writer has published; a hint to readers while there is a writer
//   2048  identity again, for repairs
//   4096  elements
//
// Each part has a sector of its own: a disk writes a sector whole or not at all. Numbers are in the byte order of the machine that made
// the file, which the identity states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headroom/detail/file/file_calls.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t sector = 512;
inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::size_t identity_offset = 0;
inline constexpr std::size_t record_offset = sector;    // of record 0; record 1 follows
inline constexpr std::size_t live_offset = 3 * sector;
inline constexpr std::size_t second_identity_offset = 4 * sector;
inline constexpr std::uint32_t layout_version = 1;
inline constexpr std::uint64_t last_generation = UINT64_MAX / 2;    // no writer goes beyond it

using sector_bytes = std::array<std::byte, sector>;
using file_header = std::array<std::byte, header_bytes>;

struct file_record {
    std::uint64_t generation = 0;    // 1 is the first
    std::uint64_t size = 0;          // elements
};

// Returns the sector of an identity. Its checksum ties the records to the file.
HEADROOM_API [[nodiscard]] sector_bytes identity_sector(const element_identity& elements) noexcept;
HEADROOM_API [[nodiscard]] sector_bytes record_sector(const sector_bytes& identity, const file_record& record) noexcept;
// Returns the offset in the file of the record of this generation.
[[nodiscard]] constexpr std::size_t record_position(std::uint64_t generation) noexcept {
    return record_offset + static_cast<std::size_t>(generation % 2) * sector;
}

// Returns the header of a new file: no elements, generation 1.
HEADROOM_API [[nodiscard]] file_header new_header(const element_identity& elements) noexcept;

// Returns the identity in a sector. Sets `what` to its fault, if any; the result is then incomplete.
HEADROOM_API [[nodiscard]] element_identity read_identity(const std::byte* sector, file_fault& what) noexcept;
// Returns the record in a sector of a file with this identity; nothing if neither copy is whole.
HEADROOM_API [[nodiscard]] std::optional<file_record> read_record(const std::byte* sector, const sector_bytes& identity) noexcept;
HEADROOM_API [[nodiscard]] std::optional<file_record> newest_record(const std::byte* header,
                                                                    const sector_bytes& identity) noexcept;

// True if a file of `file_bytes` holds `count` elements.
HEADROOM_API [[nodiscard]] bool fits_in_file(std::uint64_t file_bytes, std::uint64_t count, std::uint64_t element_size) noexcept;

// Returns file_fault::none if a file of `file_bytes` with this header may be opened for elements `expected` (null: any), else the first
// fault. Sets `found` to its identity, and `newest` to the newest whole record.
HEADROOM_API [[nodiscard]] file_fault validate_header(const file_header& header, std::size_t header_length,
                                                      std::uint64_t file_bytes, const element_identity* expected,
                                                      element_identity& found, file_record& newest) noexcept;

}}}    // namespace headroom::detail
