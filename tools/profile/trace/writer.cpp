// SPDX-License-Identifier: MIT
#include "writer.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace headroom::profile {

struct trace_writer::compressor {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::vector<char> stored;
    ~compressor() { ZSTD_freeCCtx(context); }
};

trace_writer::trace_writer(const std::string& path) : trace_writer(path, false) {}

trace_writer::trace_writer(const std::string& path, bool more) : compressor_(std::make_unique<compressor>()) {
    file_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | (more ? O_APPEND : O_CREAT | O_TRUNC), 0644);
    if (file_ < 0) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
    if (compressor_->context == nullptr) throw std::runtime_error("no memory to compress with");
    if (more) {
        size_ = static_cast<std::uint64_t>(lseek(file_, 0, SEEK_END));
        return;
    }
    file_head head{};
    std::memcpy(head.magic, trace_magic, sizeof head.magic);
    head.version = trace_version;
    put(&head, sizeof head);
    if (!failure_.empty()) throw std::runtime_error("cannot write " + path + ": " + failure_);
}

trace_writer::~trace_writer() {
    if (file_ >= 0) close(file_);
}

void trace_writer::put(const void* data, std::size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size != 0 && failure_.empty()) {
        const ssize_t written = ::write(file_, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            failure_ = std::strerror(written < 0 ? errno : ENOSPC);
            return;
        }
        at += written;
        size -= static_cast<std::size_t>(written);
        size_ += static_cast<std::uint64_t>(written);
    }
}

bool trace_writer::write(std::uint32_t process, record_writer& records) {
    if (!records.empty() && failure_.empty()) {
        std::vector<char>& stored = compressor_->stored;
        stored.assign(sizeof(block_head), 0);
        std::size_t raw_size = 0;
        for (std::size_t i = 0; i < columns && failure_.empty(); ++i) {
            const column_bytes& raw = records.at(static_cast<column>(i));
            raw_size += raw.size();
            const std::size_t begin = stored.size();
            stored.resize(begin + 8 + ZSTD_compressBound(raw.size()));
            char* const to = stored.data() + begin;
            const std::size_t size =
                ZSTD_compressCCtx(compressor_->context, to + 8, stored.size() - begin - 8, raw.data(), raw.size(), 3);
            if (ZSTD_isError(size) != 0) {
                failure_ = ZSTD_getErrorName(size);
                break;
            }
            const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(raw.size()), static_cast<std::uint32_t>(size)};
            std::memcpy(to, sizes, sizeof sizes);
            stored.resize(begin + 8 + size);
        }
        const std::size_t size = stored.size() - sizeof(block_head);
        const auto* const bytes = reinterpret_cast<const unsigned char*>(stored.data() + sizeof(block_head));
        const block_head head{block_magic, process, static_cast<std::uint32_t>(raw_size), static_cast<std::uint32_t>(size),
                              static_cast<std::uint32_t>(crc32(0, bytes, static_cast<unsigned>(size)))};
        std::memcpy(stored.data(), &head, sizeof head);
        const std::uint64_t whole = size_;
        if (failure_.empty()) put(stored.data(), stored.size());
        // Half a block would hide from readers what is written behind it, once there is room again.
        if (!failure_.empty() && ftruncate(file_, static_cast<off_t>(whole)) == 0) size_ = whole;
    }
    for (std::size_t i = 0; i < columns; ++i) records.at(static_cast<column>(i)).clear();
    return failure_.empty();
}

}    // namespace headroom::profile
