// SPDX-License-Identifier: MIT
// A column's life: made or opened, committed, shown, cut and closed; in a forked child.
#include <nanobind/stl/string.h>

#include <headroom/file_vector.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "turns.hpp"

namespace headroom_python {
namespace {

column* first_in_files = nullptr;

// Returns the description of elements that is stored in a file. Names that are too long are replaced by a hash.
headroom::detail::element_identity identity(std::size_t size, std::size_t alignment, std::string tag) {
    headroom::detail::element_identity made{size, alignment, {}};
    if (tag.size() >= made.tag.size()) {
        std::uint64_t hash = 0xcbf29ce484222325U;    // FNV-1a
        for (const char letter : tag) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
        tag = tag.substr(0, 40) + "#" + std::to_string(hash);
    }
    std::copy(tag.begin(), tag.end(), made.tag.begin());
    return made;
}

std::string tag_of(const element_type& type) {
    std::string tag = facts(type.kind).name;
    if (type.kind == kind::structure) tag = nb::cast<std::string>(nb::str(nb::object(type.dtype.attr("descr"))));
    for (const Py_ssize_t extent : type.shape) tag.append("[").append(std::to_string(extent)).append("]");
    return type.nullable && !is_time(type.kind) ? tag + "?" : tag;
}

// Throws if a text column read from a file has offsets outside of its bytes: other libraries will trust them.
void expect_offsets(const column& of, std::size_t first, std::size_t rows) {
    if (!of.is_text() || rows == 0) return;
    bool wrong = of.ends()[first] < 0 || (first == 0 && of.ends()[0] != 0);
    for (std::size_t i = first; i < rows; ++i) wrong |= of.ends()[i + 1] < of.ends()[i];
    if (wrong || static_cast<std::size_t>(of.ends()[rows]) > of.bytes->used) {
        throw std::invalid_argument("\"" + of.path + "\" is damaged: its offsets lead outside of its bytes");
    }
}

// After a failure to commit: the next append asks whether it may go on.
void ask_before_appending(column& of) noexcept {
    of.each_piece([](storage& piece) { piece.room = piece.used; });
}

// Elements must not be committed whose text or bits are not.
void keep_committed(column& of) noexcept { of.held->used = (std::min)(of.held->used, of.held->committed()); }

// Decides what the last commit stores. Leaves out the first offset of text that has no rows, so that the file stays new. If a cut
// could not be committed, keeps all of the text and bits, since the disk may still have the elements.
void choose_last_commit(column& of) noexcept {
    if (of.is_text() && of.rows() == 0 && !of.path.empty() && of.held->is_new()) of.held->used = 0;
    if (of.held->committed() <= of.held->used) return;
    for (const auto& each : {of.bytes, of.valid}) {
        if (each != nullptr) each->used = (std::max)(each->used, each->committed());
    }
}

void expect_whole(const column& of) {
    if (of.valid != nullptr && of.valid->used < bytes_of_bits(of.rows())) {
        throw std::invalid_argument("\"" + of.path + ".valid\" has fewer bits than there are elements");
    }
}

}    // namespace

void begin_new_life() noexcept {
    ++life;
    for (const column* each = first_in_files; each != nullptr; each = each->next) {
        each->each_piece([](storage& piece) { piece.begin_in_child(); });
    }
}

column::~column() {
    if (next != nullptr) next->previous = previous;
    if (previous != nullptr) previous->next = next;
    if (first_in_files == this) first_in_files = next;
    if (closed || path.empty() || held == nullptr || !held->writable) return;
    choose_last_commit(*this);
    try {
        for (const auto& each : {bytes, valid}) {
            if (each != nullptr && each->used != each->committed()) each->commit();
        }
    } catch (...) {    // no caller is left to report to
        keep_committed(*this);
    }
}

void cut(column& of, std::size_t rows) {
    truncate(of, rows);
    // What says how many rows there are comes first, so that the other pieces never have less.
    try {
        for (const auto& each : {of.held, of.bytes, of.valid}) {
            if (each != nullptr && each->committed() > each->used) each->commit();
        }
    } catch (...) {
        ask_before_appending(of);
        throw;
    }
}

void publish(column& of) {
    bool failed = false;    // (what the others have does not belong to what one of them has)
    of.each_piece([&](const storage& piece) { failed |= piece.failed(); });
    if (!failed) of.each_piece([](storage& piece) { piece.publish(); });
}

void commit(column& of) {
    if (of.path.empty() || !of.held->writable) return;
    turn alone({&of});
    try {
        const unlocked others(true);
        if (of.held->failed()) of.held->commit();    // throws, before text and bits are cut that the elements on the disk need
        of.each_piece([](storage& piece) { piece.commit(); });
    } catch (...) {
        ask_before_appending(of);
        alone.room(0, of.held->used);
        throw;
    }
}

void refresh(column& of) {
    const std::size_t before = of.rows();
    of.held->refresh();
    if (of.bytes != nullptr) of.bytes->refresh();
    if (of.valid != nullptr) of.valid->refresh();
    if (of.path.empty() || of.held->writable) return;
    expect_whole(of);
    if (of.rows() > before) expect_offsets(of, before, of.rows());
}

void close(column& of) {
    if (std::exchange(of.closed, true)) return;
    choose_last_commit(of);
    std::exception_ptr failed;
    of.each_piece([&](storage& piece) {
        try {
            piece.close();
        } catch (...) {
            if (!failed) failed = std::current_exception();
            keep_committed(of);
        }
    });
    if (failed) std::rethrow_exception(failed);
}

std::shared_ptr<column> make_like(const column& of) { return make_column(of.type, std::nullopt, {}, file_mode::create); }

std::shared_ptr<column> make_column(element_type type, std::optional<std::size_t> max_elements, const std::string& path,
                                    file_mode mode) {
    auto made = std::make_shared<column>();
    made->type = std::move(type);
    made->said = max_elements;
    made->path = path;
    const bool text = made->is_text();
    const bool bits = made->type.nullable && !is_time(made->type.kind);
    const std::size_t width = made->type.width;
    std::optional<std::size_t> bytes;
    if (max_elements) {
        if (*max_elements > SIZE_MAX / 16 / width) throw std::length_error("headroom: no array is that long");
        bytes = (*max_elements + (text ? 1 : 0)) * width;
    }
    const std::optional<std::size_t> bit_bytes = max_elements ? std::optional(bytes_of_bits(*max_elements)) : std::nullopt;
    if (path.empty()) {
        made->held = make_memory(bytes);
        if (text) made->bytes = make_memory(std::nullopt);
        if (bits) made->valid = make_memory(bit_bytes);
    } else {
        const auto elements = text ? identity(8, 8, made->type.nullable ? "str?" : "str")
                                   : identity(width, made->type.alignment, tag_of(made->type));
        made->held = open_file(path, mode, elements, bytes);
        // Those beside it are made after it: after a crash they are missing at most where nothing was appended yet.
        const file_mode beside = mode == file_mode::append && made->rows() != 0 ? file_mode::append_there : mode;
        if (text) made->bytes = open_file(path + ".bytes", beside, identity(1, 1, "str bytes"), std::nullopt);
        if (bits) made->valid = open_file(path + ".valid", beside, identity(1, 1, "validity"), bit_bytes);
        expect_whole(*made);
        expect_offsets(*made, 0, made->rows());
        if (made->held->writable) truncate(*made, made->rows());
        made->next = std::exchange(first_in_files, made.get());
        if (made->next != nullptr) made->next->previous = made.get();
    }
    begin_text(*made);
    made->append = appending_of(*made);
    return made;
}

}    // namespace headroom_python
