// SPDX-License-Identifier: MIT
// profile.proto, written by hand: a message is a list of numbered fields, each a number or a run of bytes.
#include <zlib.h>

#include <map>
#include <stdexcept>

#include "show.hpp"

namespace headroom::profile {
namespace {

class message {
public:
    void number(unsigned field, std::uint64_t value) {
        varint(std::uint64_t{field} << 3);
        varint(value);
    }
    void bytes(unsigned field, std::string_view value) {
        varint(std::uint64_t{field} << 3 | 2);
        varint(value.size());
        bytes_.append(value);
    }
    [[nodiscard]] const std::string& text() const { return bytes_; }

private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
        bytes_.push_back(static_cast<char>(value));
    }
    std::string bytes_;
};

class numbering {
public:
    explicit numbering(std::uint64_t first) : next_(first) {}
    // The number of a text, and whether it is new.
    std::pair<std::uint64_t, bool> of(const std::string& text) {
        const auto [at, fresh] = numbers_.try_emplace(text, next_);
        if (fresh) ++next_;
        return {at->second, fresh};
    }

private:
    std::uint64_t next_;
    std::map<std::string, std::uint64_t> numbers_;
};

std::string zipped(const std::string& raw) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("zlib has no memory");
    std::string out(deflateBound(&stream, raw.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
    stream.avail_in = static_cast<uInt>(raw.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

}    // namespace

std::string pprof_bytes(const profile_result& profile) {
    message all;
    numbering strings(0);
    std::vector<std::string> texts;
    const auto string = [&](const std::string& text) {
        const auto [number, fresh] = strings.of(text);
        if (fresh) texts.push_back(text);
        return number;
    };
    string("");
    for (const auto& [name, unit] : {std::pair{"allocated", "bytes"}, std::pair{"copied", "bytes"}}) {
        message type;
        type.number(1, string(name));
        type.number(2, string(unit));
        all.bytes(1, type.text());
    }
    numbering functions(1);
    for (const site& one : profile.sites) {
        for (const stack_share& stack : one.stacks) {
            message places;
            message values;
            std::string packed;
            const auto pack = [&](std::uint64_t value) {
                for (; value >= 0x80; value >>= 7) packed.push_back(static_cast<char>(value | 0x80));
                packed.push_back(static_cast<char>(value));
            };
            for (std::size_t i = stack.frames.size(); i-- > 0;) {    // innermost first
                const auto [number, fresh] = functions.of(std::string(std::string(stack.frames[i])));
                if (fresh) {
                    message function;
                    function.number(1, number);
                    function.number(2, string(std::string(stack.frames[i])));
                    all.bytes(5, function.text());
                    message line;
                    line.number(1, number);
                    message location;
                    location.number(1, number);
                    location.bytes(4, line.text());
                    all.bytes(4, location.text());
                }
                pack(number);
            }
            message sample;
            sample.bytes(1, packed);
            packed.clear();
            pack(static_cast<std::uint64_t>(stack.allocated + 0.5));
            pack(static_cast<std::uint64_t>(stack.copied + 0.5));
            sample.bytes(2, packed);
            all.bytes(2, sample.text());
        }
    }
    all.number(10, static_cast<std::uint64_t>(profile.seconds * 1e9));
    all.number(14, string("copied"));
    for (const std::string& text : texts) all.bytes(6, text);
    return zipped(all.text());
}

}    // namespace headroom::profile
