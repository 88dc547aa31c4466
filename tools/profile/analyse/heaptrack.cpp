// SPDX-License-Identifier: MIT
// Reads heaptrack's traces: they name call stacks and sizes, but neither addresses, threads nor times of single events.
//
// An array that grows shows itself in them too: a block allocated, and a smaller one freed next.
#include "heaptrack.hpp"

#include <zlib.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "trace/budget.hpp"
#include "trace/file.hpp"
#include "trace/format.hpp"

namespace headroom::profile {
namespace {

// The lines of a file, whichever way it is compressed, one at a time: together they may be far larger than memory.
class line_source {
public:
    explicit line_source(const std::string& path) : file_(open_file(path, "rbe")) {
        if (!file_) throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
        unsigned char magic[4] = {};
        const std::size_t got = std::fread(magic, 1, sizeof magic, file_.get());
        std::rewind(file_.get());
        if (got == 4 && magic[0] == 0x28 && magic[1] == 0xb5 && magic[2] == 0x2f && magic[3] == 0xfd) {
            zstd_.reset(ZSTD_createDCtx());
            stored_.resize(ZSTD_DStreamInSize());
        } else {
            zipped_.reset(gzopen(path.c_str(), "rb"));    // plain text passes too
            if (!zipped_) throw std::runtime_error("cannot read " + path);
        }
    }

    // The next line without its end, valid until the next call; false after the last.
    bool next(std::string_view& line) {
        for (std::size_t searched = begin_;;) {
            const std::size_t end = text_.find('\n', searched);
            if (end != std::string::npos) {
                line = std::string_view(text_).substr(begin_, end - begin_);
                begin_ = end + 1;
                return true;
            }
            text_.erase(0, begin_);
            begin_ = 0;
            searched = text_.size();
            if (text_.size() > longest_line) throw std::runtime_error("a line is longer than 16 MiB");
            if (!more()) {
                if (!text_.empty() && damage_.empty()) damage_ = "its last line is cut off";
                return false;
            }
        }
    }
    // Describes the damage at the end of the file; empty if there is none. Valid after the last line.
    [[nodiscard]] const std::string& damage() const { return damage_; }

private:
    static constexpr std::size_t longest_line = std::size_t{16} << 20;

    // Appends a piece to the text.
    bool more() {
        char piece[65536];
        if (zipped_) {
            const int size = gzread(zipped_.get(), piece, sizeof piece);
            if (size < 0) damage_ = "it is damaged";
            if (size > 0) text_.append(piece, static_cast<std::size_t>(size));
            return size > 0;
        }
        while (true) {
            ZSTD_outBuffer output{piece, sizeof piece, 0};
            if (input_.pos == input_.size) {
                input_ = {stored_.data(), std::fread(stored_.data(), 1, stored_.size(), file_.get()), 0};
                if (input_.size == 0) {
                    if (rest_ != 0) damage_ = "it is cut off";
                    return false;
                }
            }
            rest_ = ZSTD_decompressStream(zstd_.get(), &output, &input_);
            if (ZSTD_isError(rest_) != 0) {
                damage_ = "it is damaged";
                return false;
            }
            text_.append(piece, output.pos);
            if (output.pos != 0) return true;
        }
    }

    struct zstd_end {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    struct zip_end {
        void operator()(gzFile_s* file) const { gzclose(file); }
    };
    file_pointer file_;
    std::unique_ptr<ZSTD_DCtx, zstd_end> zstd_;
    std::unique_ptr<gzFile_s, zip_end> zipped_;
    std::string stored_;
    ZSTD_inBuffer input_{nullptr, 0, 0};
    std::size_t rest_ = 0;
    std::string text_;
    std::size_t begin_ = 0;
    std::string damage_;
};

class line_words {
public:
    explicit line_words(std::string_view line) : rest_(line) {}
    [[nodiscard]] bool done() const { return rest_.empty(); }
    std::uint64_t number() {
        const std::string word(next());
        return std::strtoull(word.c_str(), nullptr, 16);
    }
    [[nodiscard]] std::string_view rest() const { return rest_; }

private:
    std::string_view next() {
        const std::size_t end = rest_.find(' ');
        const std::string_view word = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        return word;
    }
    std::string_view rest_;
};

}    // namespace

trace_totals import_heaptrack(const std::string& path) {
    trace_totals result;
    result.source = path;
    line_source lines(path);
    budget memory(path);
    std::string_view line;
    if (!lines.next(line) || line.substr(0, 2) != "v ")
        throw std::runtime_error(path + " is neither a trace of headroom profile nor one of heaptrack");
    process_totals& process = result.processes.emplace_back();
    std::vector<std::string> strings(1);
    std::vector<std::vector<std::string>> places(1);    // of each instruction: "function\tfile:line", innermost first
    struct node {
        std::uint64_t place;
        std::uint64_t parent;
    };
    std::vector<node> nodes(1);
    struct block_kind {
        std::uint32_t stack;
        std::uint64_t size;
        stack_totals* totals;
    };
    std::vector<block_kind> kinds;
    std::uint64_t version = 0;
    double copied = 0;
    std::uint64_t last = ~std::uint64_t{0};    // what was allocated by the line before, if that was an allocation
    std::uint64_t line_number = 0;
    const auto at = [&](auto& list, std::uint64_t index) -> auto& {
        if (index >= list.size())
            throw std::runtime_error(path + ", line " + std::to_string(line_number) +
                                     ": it refers to an entry that does not exist");
        return list[index];
    };
    const auto keep = [&](std::uint64_t bytes) {
        try {
            memory.take(bytes);
        } catch (const std::runtime_error& error) {
            throw std::runtime_error(path + ", line " + std::to_string(line_number) + ": " + error.what());
        }
    };
    do {
        ++line_number;
        if (line.size() < 2) continue;
        line_words words(line.substr(2));
        switch (line[0]) {
            case 'v':
                words.number();
                version = words.done() ? 1 : words.number();
                if (version < 2 || version > 3) {
                    throw std::runtime_error(path + " has version " + std::to_string(version) +
                                             " of heaptrack's format; 2 and 3 are read here");
                }
                break;
            case 'X': process.command_line = line.substr(2); break;
            case 's':
                if (version >= 3) words.number();
                keep(sizeof(std::string) + words.rest().size());
                strings.emplace_back(words.rest());
                break;
            case 'i': {
                words.number();
                const std::uint64_t module = words.number();
                keep(sizeof(std::vector<std::string>));
                std::vector<std::string>& frames = places.emplace_back();
                while (!words.done()) {
                    const std::string function = at(strings, words.number());
                    if (words.done()) {
                        frames.push_back(function);
                        break;
                    }
                    const std::string file = at(strings, words.number());
                    frames.push_back(function + "\t" + file + ":" + std::to_string(words.number()));
                    keep(sizeof(std::string) + frames.back().size());
                }
                if (frames.empty()) {
                    const std::string& name = at(strings, module);
                    frames.push_back("(" + name.substr(name.rfind('/') + 1) + ")");
                }
                break;
            }
            case 't': {
                const std::uint64_t place = words.number();
                keep(sizeof(node));
                nodes.push_back({place, words.number()});
                break;
            }
            case 'a': {
                const std::uint64_t size = words.number();
                const auto stack = static_cast<std::uint32_t>(words.number());
                if (!process.stacks.contains(stack)) {
                    keep(sizeof(stack_totals));
                    std::vector<std::string>& names = process.stacks[stack].names;
                    std::uint64_t next = stack;
                    for (std::size_t depth = 0; next != 0 && depth < 1024; ++depth) {
                        const node& one = at(nodes, next);
                        const std::vector<std::string>& frames = at(places, one.place);
                        for (const std::string& frame : frames) keep(sizeof frame + frame.size());
                        names.insert(names.end(), frames.begin(), frames.end());
                        next = one.parent;
                    }
                }
                keep(sizeof(block_kind));
                kinds.push_back({stack, size, &process.totals[stack]});
                break;
            }
            case '+': {
                last = words.number();
                const block_kind& kind = at(kinds, last);
                stack_totals& totals = *kind.totals;
                const auto bytes = static_cast<double>(kind.size);
                totals.allocations += 1;
                totals.bytes += bytes;
                totals.most_live = std::max(totals.most_live, totals.live += 1);
                totals.most_live_bytes = std::max(totals.most_live_bytes, totals.live_bytes += bytes);
                totals.sizes.add(kind.size, 1);
                process.allocations += 1;
                process.bytes += bytes;
                process.peak_bytes = std::max(process.peak_bytes, process.live_bytes += bytes);
                break;
            }
            case '-': {
                const block_kind& kind = at(kinds, words.number());
                const auto bytes = static_cast<double>(kind.size);
                kind.totals->live -= 1;
                kind.totals->live_bytes -= bytes;
                kind.totals->frees += 1;
                process.frees += 1;
                process.live_bytes -= bytes;
                if (last < kinds.size() && kinds[last].size > kind.size) {
                    growth_sum sum;
                    sum.count = 1;
                    sum.bytes = bytes;
                    sum.room_bytes = static_cast<double>(kinds[last].size);
                    const growth_class which = classify(grew_adjacent, kind.size, kinds[last].size);
                    kinds[last].totals->growth[static_cast<std::size_t>(which)] += sum;
                    copied += bytes;
                }
                last = ~std::uint64_t{0};
                break;
            }
            case 'c':
                process.seconds = static_cast<double>(words.number()) / 1000;
                add_moment(process.times, {process.seconds, process.live_bytes, copied, process.allocations});
                break;
            default: break;
        }
    } while (lines.next(line));
    result.damage = lines.damage();
    process.complete = true;
    process.notes.push_back(
        "read from heaptrack's trace: it does not say how long growing took, which thread did it, nor where blocks "
        "lay");
    return result;
}

}    // namespace headroom::profile
