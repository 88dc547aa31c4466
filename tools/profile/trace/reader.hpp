// SPDX-License-Identifier: MIT
// Reads a trace file, or as much of it as is whole.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "format.hpp"

namespace headroom::profile {

// The records of a block, one after the other. Throws std::runtime_error where a record runs past the end of a column.
class record_reader {
public:
    explicit record_reader(const std::array<std::string, columns>& raw) {
        for (std::size_t i = 0; i < columns; ++i) parts_[i] = {raw[i].data(), raw[i].data() + raw[i].size()};
    }

    [[nodiscard]] bool done() const { return parts_[0].at == parts_[0].end; }
    record kind() { return static_cast<record>(byte(column::records)); }
    std::uint64_t info() {
        const std::uint64_t low = byte(column::blocks_low);
        return number(column::blocks_high) << 8 | low;
    }
    unsigned lifetime() { return byte(column::lifetimes) & 63; }
    std::uint64_t number() { return number(column::numbers); }
    std::uint32_t number32() { return static_cast<std::uint32_t>(number()); }
    std::string text() {
        const std::uint64_t size = number();
        part& from = parts_[static_cast<std::size_t>(column::numbers)];
        if (size > static_cast<std::uint64_t>(from.end - from.at)) throw std::runtime_error("a text is cut off");
        std::string words(from.at, size);
        from.at += size;
        return words;
    }

private:
    struct part {
        const char* at = nullptr;
        const char* end = nullptr;
    };
    std::uint8_t byte(column which) {
        part& from = parts_[static_cast<std::size_t>(which)];
        if (from.at == from.end) throw std::runtime_error("a record is cut off");
        return static_cast<std::uint8_t>(*from.at++);
    }
    std::uint64_t number(column which) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t next = byte(which);
            value |= std::uint64_t{next & 0x7fU} << shift;
            if ((next & 0x80) == 0) return value;
        }
        throw std::runtime_error("a number is too long");
    }
    part parts_[columns];
};

// Hands each whole block to `use`, in order. Returns what was wrong with the rest: empty when there is none. Throws
// std::runtime_error when the file is no trace, is of another version, or cannot be opened.
std::string read_trace(const std::string& path, const std::function<void(std::uint32_t process, record_reader&)>& use);

// True if the file begins with a trace's signature.
bool is_trace(const std::string& path);

}    // namespace headroom::profile
