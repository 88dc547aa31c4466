// The first 4096 bytes of a file: how they are laid out, written and read. Pure functions of bytes.
//
//      0  identity: what the elements are; a checksum over all of the sector
//    512  record 0  \ {generation, size, checksum}, twice each: at the sector's beginning and in its middle. A commit writes
//   1024  record 1  / the older of the two, so that a power cut in between leaves the other
//   1536  live size: how many elements the writer has published; a hint to readers while there is a writer
//   2048  identity again, for repairs
//   4096  elements
//
// Each part has a sector of its own: a disk writes a sector whole or not at all. Numbers are in the byte order of the machine
// that made the file, which the identity tells.
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
inline constexpr std::size_t record_offset = sector;    // of the first; the other follows
inline constexpr std::size_t live_offset = 3 * sector;
inline constexpr std::size_t second_identity_offset = 4 * sector;
inline constexpr std::uint32_t layout_version = 1;
inline constexpr std::uint64_t last_generation = UINT64_MAX / 2;    // no writer comes to one behind it

using sector_bytes = std::array<std::byte, sector>;
using file_header = std::array<std::byte, header_bytes>;

struct file_record {
    std::uint64_t generation = 0;    // 1 is the first
    std::uint64_t size = 0;          // elements
};

// The sector of an identity. The file and its records are tied together by its checksum.
HEADROOM_API [[nodiscard]] sector_bytes identity_sector(const element_identity& elements) noexcept;
HEADROOM_API [[nodiscard]] sector_bytes record_sector(const sector_bytes& identity, const file_record& record) noexcept;
// Where a record of that generation belongs, from the beginning of the file.
[[nodiscard]] constexpr std::size_t record_position(std::uint64_t generation) noexcept {
    return record_offset + static_cast<std::size_t>(generation % 2) * sector;
}

// A new file's header: no elements, generation 1.
HEADROOM_API [[nodiscard]] file_header new_header(const element_identity& elements) noexcept;

// The identity in a sector; `what` says what is wrong with it, if anything (then only what could be read is there).
HEADROOM_API [[nodiscard]] element_identity read_identity(const std::byte* sector, file_fault& what) noexcept;
// The record in a sector whose identity is `identity`; nothing where neither copy is whole.
HEADROOM_API [[nodiscard]] std::optional<file_record> read_record(const std::byte* sector, const sector_bytes& identity) noexcept;
HEADROOM_API [[nodiscard]] std::optional<file_record> newest_record(const std::byte* header,
                                                                    const sector_bytes& identity) noexcept;

// Whether a file of so many bytes holds `count` elements.
HEADROOM_API [[nodiscard]] bool fits_in_file(std::uint64_t file_bytes, std::uint64_t count, std::uint64_t element_size) noexcept;

// All of it together: what a header says, and whether a file of `file_bytes` with elements `expected` (null: any) may be
// opened by it.
HEADROOM_API [[nodiscard]] file_fault validate_header(const file_header& header, std::size_t header_length,
                                                      std::uint64_t file_bytes, const element_identity* expected,
                                                      element_identity& found, file_record& newest) noexcept;

}}}    // namespace headroom::detail
