// SPDX-License-Identifier: MIT
#include "reader.hpp"

#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "file.hpp"

namespace headroom::profile {
namespace {

constexpr std::uint32_t largest_block = std::uint32_t{1} << 26;    // more than any recording writes

file_pointer open_to_read(const std::string& path) {
    file_pointer file = open_file(path, "rbe");
    if (!file) throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
    return file;
}

}    // namespace

bool is_trace(const std::string& path) {
    const file_pointer file = open_to_read(path);
    char magic[sizeof trace_magic];
    return std::fread(magic, 1, sizeof magic, file.get()) == sizeof magic && std::memcmp(magic, trace_magic, sizeof magic) == 0;
}

std::string read_trace(const std::string& path, const std::function<void(std::uint32_t, record_reader&)>& use) {
    const file_pointer file = open_to_read(path);
    file_head head{};
    if (std::fread(&head, 1, sizeof head, file.get()) != sizeof head ||
        std::memcmp(head.magic, trace_magic, sizeof head.magic) != 0) {
        throw std::runtime_error(path + " is not a trace of headroom profile");
    }
    if (head.version < 1 || head.version > trace_version) {
        throw std::runtime_error(path + " is a trace of version " + std::to_string(head.version) +
                                 "; this program reads versions 1 to " + std::to_string(trace_version));
    }
    std::vector<char> stored;
    std::array<std::string, columns> raw;
    for (unsigned long number = 1;; ++number) {
        const std::string which = "block " + std::to_string(number);
        block_head block{};
        const std::size_t got = std::fread(&block, 1, sizeof block, file.get());
        if (got == 0) return {};
        if (got != sizeof block) return which + " is cut off";
        if (block.magic != block_magic || block.raw_size > largest_block || block.stored_size > largest_block) {
            return which + " is damaged";
        }
        stored.resize(block.stored_size);
        if (std::fread(stored.data(), 1, stored.size(), file.get()) != stored.size()) return which + " is cut off";
        if (crc32(0, reinterpret_cast<const unsigned char*>(stored.data()), block.stored_size) != block.checksum) {
            return which + " is damaged";
        }
        std::size_t at = 0;
        std::size_t rest = block.raw_size;
        for (std::string& part : raw) {
            std::uint32_t sizes[2] = {};
            if (stored.size() - at < sizeof sizes) return which + " is damaged";
            std::memcpy(sizes, stored.data() + at, sizeof sizes);
            at += sizeof sizes;
            if (sizes[0] > rest || sizes[1] > stored.size() - at) return which + " is damaged";
            rest -= sizes[0];
            part.resize(sizes[0]);
            if (ZSTD_decompress(part.data(), part.size(), stored.data() + at, sizes[1]) != part.size())
                return which + " is damaged";
            at += sizes[1];
        }
        try {
            record_reader records(raw);
            use(block.process, records);
        } catch (const std::runtime_error& error) {
            return which + " is damaged: " + error.what();
        }
    }
}

}    // namespace headroom::profile
