// SPDX-License-Identifier: MIT
// Makes headers of file_vector's files from arbitrary bytes, for the tests and the fuzzer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include <headroom/detail/file/header.hpp>

namespace headroom_test {

// Recomputes the checksum of the first sector.
inline void seal_identity(std::string& bytes) {
    std::uint64_t sum = 14695981039346656037U;
    for (std::size_t i = 0; i != 504; ++i) sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 1099511628211U;
    std::memcpy(bytes.data() + 504, &sum, sizeof sum);
}

// Overwrites the bytes with a valid header in which up to three bits are flipped.
inline void mostly_whole(std::string& bytes, std::uint32_t choice) {
    namespace detail = headroom::detail;
    detail::element_identity elements;
    elements.size = 1 + choice % 100;
    elements.alignment = 1;
    const detail::file_header whole = detail::new_header(elements);
    std::string header(reinterpret_cast<const char*>(whole.data()), whole.size());
    const auto record = detail::record_sector(detail::identity_sector(elements), {2 + choice % 5, choice % 1000});
    std::memcpy(header.data() + 512 * (1 + choice % 2), record.data(), record.size());
    for (std::uint32_t i = 0; i != choice % 4; ++i)
        header[(choice >> (7 * i)) % 2048] ^= static_cast<char>(1 << (i + choice % 5));
    if (choice % 3 == 0) seal_identity(header);
    bytes.replace(0, (std::min)(bytes.size(), header.size()), header.substr(0, bytes.size()));
}

// Body of the fuzzer. Input: 8 bytes of file length, then the header. Throws if reading it breaks a promise.
inline void read_any_header(const std::uint8_t* data, std::size_t size) {
    namespace detail = headroom::detail;
    if (size < 8) return;
    std::uint64_t file_bytes = 0;
    std::memcpy(&file_bytes, data, sizeof file_bytes);
    detail::file_header header{};
    const std::size_t length = (std::min)(size - 8, header.size());
    std::memcpy(header.data(), data + 8, length);
    file_bytes = length < header.size() ? length : header.size() + file_bytes % (std::uint64_t{1} << 40);
    detail::element_identity found;
    detail::file_record newest;
    const auto what = detail::validate_header(header, length, file_bytes, nullptr, found, newest);
    if (what != detail::file_fault::none) return;
    const auto require = [](bool holds, const char* promise) {
        if (!holds) throw std::logic_error(promise);
    };
    require(found.size != 0, "an element has a size");
    require(newest.size <= (file_bytes - header.size()) / found.size, "the elements are in the file");
    require(newest.generation != 0, "a record has a generation");
    require(found.tag.back() == '\0', "a tag ends");
    // Opens with the element type that it names, and with no other.
    detail::element_identity same, other = found;
    require(detail::validate_header(header, length, file_bytes, &found, same, newest) == detail::file_fault::none,
            "it is what it says");
    ++other.size;
    require(detail::validate_header(header, length, file_bytes, &other, same, newest) == detail::file_fault::element_size,
            "it is nothing else");
}

}    // namespace headroom_test
