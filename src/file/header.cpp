// SPDX-License-Identifier: MIT
// The header of a file: implements header.hpp. Calls no system functions.
#include <headroom/detail/file/header.hpp>

#include <algorithm>
#include <cstring>

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Not text, so that no program takes it for text, and no transfer that changes line ends leaves it intact.
constexpr std::array<unsigned char, 8> magic{0x89, 'H', 'D', 'R', 'M', '\r', '\n', 0x1a};
constexpr std::uint32_t native_order = 0x01020304;
constexpr std::uint32_t foreign_order = 0x04030201;

// Offsets within the sector of an identity.
constexpr std::size_t order_at = 8, version_at = 12, size_at = 16, alignment_at = 24, offset_at = 32, tag_at = 40;
constexpr std::size_t checksum_at = sector - 8;
constexpr std::size_t copies_apart = sector / 2;    // of a record

// A number in this machine's byte order, at any alignment.
template <class Number>
void store(std::byte* at, Number value) noexcept {
    std::memcpy(at, &value, sizeof value);
}
template <class Number>
Number load(const std::byte* at) noexcept {
    Number value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// FNV-1a: any change of a single byte changes it, and the checksum of zeros is not zero.
std::uint64_t checksum(const std::byte* from, std::size_t bytes, std::uint64_t start = 14695981039346656037U) noexcept {
    for (std::size_t i = 0; i != bytes; ++i) start = (start ^ static_cast<std::uint64_t>(from[i])) * 1099511628211U;
    return start;
}

std::uint64_t checksum_of(const file_record& record, const sector_bytes& identity) noexcept {
    std::byte bytes[16];
    store(bytes, record.generation);
    store(bytes + 8, record.size);
    return checksum(bytes, sizeof bytes, checksum(identity.data(), identity.size()));
}

}    // namespace

sector_bytes identity_sector(const element_identity& elements) noexcept {
    sector_bytes result{};
    std::memcpy(result.data(), magic.data(), magic.size());
    store(result.data() + order_at, native_order);
    store(result.data() + version_at, layout_version);
    store(result.data() + size_at, elements.size);
    store(result.data() + alignment_at, elements.alignment);
    store(result.data() + offset_at, std::uint64_t{header_bytes});
    std::memcpy(result.data() + tag_at, elements.tag.data(), tag_bytes);
    store(result.data() + checksum_at, checksum(result.data(), checksum_at));
    return result;
}

sector_bytes record_sector(const sector_bytes& identity, const file_record& record) noexcept {
    sector_bytes result{};
    for (const std::size_t at : {std::size_t{0}, copies_apart}) {
        store(result.data() + at, record.generation);
        store(result.data() + at + 8, record.size);
        store(result.data() + at + 16, checksum_of(record, identity));
    }
    return result;
}

file_header new_header(const element_identity& elements) noexcept {
    file_header result{};
    const sector_bytes identity = identity_sector(elements);
    std::copy(identity.begin(), identity.end(), result.begin() + identity_offset);
    std::copy(identity.begin(), identity.end(), result.begin() + second_identity_offset);
    const sector_bytes record = record_sector(identity, {1, 0});
    std::copy(record.begin(), record.end(), result.begin() + static_cast<std::ptrdiff_t>(record_position(1)));
    return result;
}

element_identity read_identity(const std::byte* from, file_fault& what) noexcept {
    element_identity result;
    if (std::memcmp(from, magic.data(), magic.size()) != 0) {
        what = file_fault::magic;
        return result;
    }
    if (const auto order = load<std::uint32_t>(from + order_at); order != native_order) {
        // Any other byte order is damage.
        what = order == foreign_order ? file_fault::byte_order : file_fault::identity_checksum;
        return result;
    }
    const bool whole = checksum(from, checksum_at) == load<std::uint64_t>(from + checksum_at);
    result.size = load<std::uint64_t>(from + size_at);
    result.alignment = load<std::uint64_t>(from + alignment_at);
    std::memcpy(result.tag.data(), from + tag_at, tag_bytes);
    result.tag.back() = '\0';
    if (!whole) {
        what = file_fault::identity_checksum;
    } else if (load<std::uint32_t>(from + version_at) != layout_version ||
               load<std::uint64_t>(from + offset_at) != header_bytes) {
        what = file_fault::version;
    } else if (result.size == 0) {
        what = file_fault::element_size;
    } else {
        what = file_fault::none;
    }
    return result;
}

std::optional<file_record> read_record(const std::byte* from, const sector_bytes& identity) noexcept {
    std::optional<file_record> result;
    for (const std::size_t at : {std::size_t{0}, copies_apart}) {
        const file_record record{load<std::uint64_t>(from + at), load<std::uint64_t>(from + at + 8)};
        if (record.generation == 0 || load<std::uint64_t>(from + at + 16) != checksum_of(record, identity)) continue;
        if (!result || record.generation > result->generation) result = record;
    }
    return result;
}

std::optional<file_record> newest_record(const std::byte* header, const sector_bytes& identity) noexcept {
    const auto first = read_record(header + record_offset, identity);
    const auto second = read_record(header + record_offset + sector, identity);
    if (!first || !second) return first ? first : second;
    return first->generation > second->generation ? first : second;
}

bool fits_in_file(std::uint64_t file_bytes, std::uint64_t count, std::uint64_t element_size) noexcept {
    return file_bytes >= header_bytes && count <= (file_bytes - header_bytes) / element_size;
}

file_fault validate_header(const file_header& header, std::size_t header_length, std::uint64_t file_bytes,
                           const element_identity* expected, element_identity& found, file_record& newest) noexcept {
    file_fault what = file_fault::none;
    if (header_length < sector) {
        // Too short for an identity: checks only the magic.
        const std::size_t there = (std::min)(header_length, magic.size());
        const bool ours = there != 0 && std::memcmp(header.data(), magic.data(), there) == 0;
        return ours ? file_fault::truncated : file_fault::magic;
    }
    found = read_identity(header.data() + identity_offset, what);
    if (what != file_fault::none) return what;
    if (expected != nullptr) {
        if (found.size != expected->size) return file_fault::element_size;
        if (found.alignment != expected->alignment) return file_fault::element_alignment;
        if (found.tag != expected->tag) return file_fault::type_tag;
    }
    if (header_length < header_bytes) return file_fault::truncated;
    sector_bytes identity;
    std::memcpy(identity.data(), header.data() + identity_offset, sector);
    // A generation that no writer leaves would lose the next commit: it would start anew, or overwrite the newest record.
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
        const auto each = read_record(header.data() + record_offset + at * sector, identity);
        if (each && (each->generation % 2 != at || each->generation > last_generation)) return file_fault::generation;
    }
    const auto record = newest_record(header.data(), identity);
    if (!record) return file_fault::records;
    newest = *record;
    return fits_in_file(file_bytes, record->size, found.size) ? file_fault::none : file_fault::truncated;
}

}}}    // namespace headroom::detail
