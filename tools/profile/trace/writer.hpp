// SPDX-License-Identifier: MIT
// Writes a trace file, block by block, so that whatever ends the writing leaves blocks that can be read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format.hpp"

namespace headroom::profile {

// Bytes collected before they are written as a block.
inline constexpr std::size_t block_size = std::size_t{1} << 20;

// Bytes that are added one by one, a few for each event of a program: a vector's push_back is a call.
class column_bytes {
public:
    void put(char byte) {
        if (used_ == bytes_.size()) grow();
        bytes_[used_++] = byte;
    }
    void put(std::string_view text) {
        while (bytes_.size() - used_ < text.size()) grow();
        text.copy(bytes_.data() + used_, text.size());
        used_ += text.size();
    }
    void clear() { used_ = 0; }
    [[nodiscard]] const char* data() const { return bytes_.data(); }
    [[nodiscard]] std::size_t size() const { return used_; }

private:
    [[gnu::noinline, gnu::cold]] void grow() { bytes_.resize(bytes_.size() < 4096 ? 4096 : bytes_.size() * 2); }
    std::vector<char> bytes_;
    std::size_t used_ = 0;
};

// The records of one process, collected into blocks.
class record_writer {
public:
    void begin(record what) { at(column::records).put(static_cast<char>(what)); }
    void info(std::uint32_t kind) {
        at(column::blocks_low).put(static_cast<char>(kind));
        number(column::blocks_high, kind >> 8);
    }
    void lifetime(unsigned logarithm) { at(column::lifetimes).put(static_cast<char>(logarithm)); }
    void number(std::uint64_t value) { number(column::numbers, value); }
    void text(std::string_view words) {
        number(words.size());
        at(column::numbers).put(words);
    }
    // About how much has been collected, in bytes.
    [[nodiscard]] std::size_t size() const { return columns_[0].size() * 3 + columns_[columns - 1].size(); }
    [[nodiscard]] bool empty() const { return columns_[0].size() == 0; }
    [[nodiscard]] column_bytes& at(column which) { return columns_[static_cast<std::size_t>(which)]; }

private:
    void number(column which, std::uint64_t value) {
        column_bytes& to = at(which);
        while (value >= 0x80) {
            to.put(static_cast<char>(value | 0x80));
            value >>= 7;
        }
        to.put(static_cast<char>(value));
    }
    column_bytes columns_[columns];
};

class trace_writer {
public:
    // Throws std::runtime_error when the file cannot be made.
    explicit trace_writer(const std::string& path);
    // Opens an existing trace to append blocks. Throws std::runtime_error.
    static trace_writer more(const std::string& path) { return trace_writer(path, true); }
    ~trace_writer();
    trace_writer(const trace_writer&) = delete;
    trace_writer& operator=(const trace_writer&) = delete;

    // Appends the records as a block of this process, and empties them. False once the file could not be written (a
    // full disk): from then on nothing is, and what was remains whole.
    bool write(std::uint32_t process, record_writer& records);

    // What went wrong; empty while nothing did.
    [[nodiscard]] const std::string& failure() const { return failure_; }
    // Of the file, in bytes.
    [[nodiscard]] std::uint64_t size() const { return size_; }

private:
    trace_writer(const std::string& path, bool more);
    void put(const void* data, std::size_t size);

    int file_ = -1;
    std::uint64_t size_ = 0;
    std::string failure_;
    struct compressor;
    std::unique_ptr<compressor> compressor_;
};

}    // namespace headroom::profile
