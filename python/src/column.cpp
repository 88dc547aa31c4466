#include "column.hpp"

#include <headroom/file_vector.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace headroom_python {
namespace {

std::atomic<unsigned> life{1};
column* first_in_files = nullptr;

std::size_t bytes_of_bits(std::size_t rows) { return rows / 8 + (rows % 8 != 0); }

void need(storage& of, std::size_t bytes) {
    if (bytes <= of.room) return;
    of.prepare(bytes);
    of.room = of.make_room(bytes);
}

// Makes the bits of `rows` rows be there; new ones are 0.
void need_bits(column& of, std::size_t rows) {
    const std::size_t bytes = bytes_of_bits(rows);
    if (of.valid == nullptr) return;
    if (of.valid->failed()) static_cast<void>(of.valid->make_room(of.valid->used));    // which says so
    if (bytes <= of.valid->used) return;
    need(*of.valid, bytes);
    std::memset(of.valid->data + of.valid->used, 0, bytes - of.valid->used);
    of.valid->used = bytes;
}

// The one offset that is there before there are elements.
void begin_text(column& of) {
    if (!of.is_text() || of.held->used != 0 || !of.held->writable) return;
    need(*of.held, 8);
    std::memset(of.held->data, 0, 8);
    of.held->used = 8;
}

// Columns are one thread's while it runs without Python's lock: whoever wants to append finds no room, and waits.
class turn {
public:
    explicit turn(std::vector<column*> columns) : columns_(std::move(columns)) {
        rooms_.reserve(columns_.size());
        for (column* const each : columns_) {
            rooms_.push_back(each->held->room);
            each->held->room = each->held->used;
            const std::lock_guard lock(each->mutex);
            each->busy = life;
        }
    }
    turn(const turn&) = delete;
    // How much room there is in the elements of one of them now.
    void room(std::size_t column, std::size_t bytes) noexcept { rooms_[column] = bytes; }
    ~turn() {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            columns_[i]->held->room = rooms_[i];
            const std::lock_guard lock(columns_[i]->mutex);
            columns_[i]->busy = 0;
            columns_[i]->no_longer_busy.notify_all();
        }
    }

private:
    std::vector<column*> columns_;
    std::vector<std::size_t> rooms_;
};

// Lets Python's lock go, if that is worth while.
class unlocked {
public:
    explicit unlocked(bool really) : state_(really ? PyEval_SaveThread() : nullptr) {}
    unlocked(const unlocked&) = delete;
    ~unlocked() {
        if (state_ != nullptr) PyEval_RestoreThread(state_);
    }

private:
    PyThreadState* state_;
};

// What a file says of its elements. Names that are too long stand there as a number made of them.
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
    if (type.kind == kind::structure) tag = nb::cast<std::string>(nb::str(type.dtype.attr("descr")));
    for (const Py_ssize_t extent : type.shape) tag.append("[").append(std::to_string(extent)).append("]");
    return type.nullable && !is_time(type.kind) ? tag + "?" : tag;
}

// Of text that was read from a file: what others will believe.
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
    for (const auto& each : {of.held, of.bytes, of.valid}) {
        if (each != nullptr) each->room = each->used;
    }
}

// Elements must not be committed whose text or bits are not.
void keep_committed(column& of) noexcept { of.held->used = (std::min)(of.held->used, of.held->committed()); }

// What is committed at the end: not the offset that text begins with, where nothing followed, so that the file stays new; and, where a
// cut could not be committed, all of the text and bits, since the disk may still have the elements.
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
        for (const auto& piece : {each->held, each->bytes, each->valid}) {
            if (piece != nullptr) piece->begin_in_child();
        }
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
    } catch (...) {    // nobody can be told
        keep_committed(*this);
    }
}

bool expect_open(const column& of) noexcept {
    if (!of.closed) return true;
    PyErr_SetString(PyExc_ValueError, "the array is closed");
    return false;
}

bool expect_writable(const column& of) noexcept {
    if (!expect_open(of)) return false;
    if (of.held->writable) return true;
    PyErr_SetString(PyExc_BufferError, "the array was opened for reading only, or by the process that this one was forked from");
    return false;
}

void need_open(const column& of) {
    if (!expect_open(of)) throw nb::python_error();
}
void need_writable(const column& of) {
    if (!expect_writable(of)) throw nb::python_error();
}

bool wait_for_turn(column& of) noexcept {
    if (of.busy != life) return false;
    while (of.busy == life) {
        const unlocked waiting(true);
        std::unique_lock lock(of.mutex);
        of.no_longer_busy.wait(lock, [&] { return of.busy != life; });
    }
    return true;
}

// --- One row.

void make_room_for(column& to, const staged& row) {
    need_writable(to);
    begin_text(to);
    const std::size_t rows = to.rows();
    if (to.said && rows >= *to.said) throw std::length_error("headroom: past max_elements");
    need(*to.held, to.held->used + to.type.width);
    if (to.bytes != nullptr) need(*to.bytes, to.bytes->used + row.length);
    need_bits(to, rows + 1);
}

void place(column& to, const staged& row) noexcept {
    const std::size_t rows = to.rows();
    if (to.is_text()) {
        if (row.length != 0) std::memcpy(to.bytes->data + to.bytes->used, row.text, row.length);
        to.bytes->used += row.length;
        const auto end = static_cast<std::int64_t>(to.bytes->used);
        std::memcpy(to.held->data + to.held->used, &end, 8);
    } else {
        std::memcpy(to.held->data + to.held->used, row.fixed(), to.type.width);
    }
    if (to.valid != nullptr) set_present(to, rows, 1, row.present);
    to.held->used += to.type.width;
}

void replace(column& in, std::size_t row, const staged& by) noexcept {
    std::memcpy(in.held->data + row * in.type.width, by.fixed(), in.type.width);
    if (in.valid != nullptr) set_present(in, row, 1, by.present);
}

// --- Many.

void append_elements(column& to, const void* from, std::size_t count) {
    need_writable(to);
    if (count == 0) return;
    const std::size_t before = to.held->used;
    const std::size_t bytes = count * to.type.width;
    if (to.said && count > *to.said - (std::min)(*to.said, to.rows())) throw std::length_error("headroom: past max_elements");
    if (bytes > to.held->limit - before) throw std::length_error("headroom: past max_elements");
    const std::size_t rows = to.rows();
    need_bits(to, rows + count);
    if (to.valid != nullptr) set_present(to, rows, count, true);
    if (bytes < many_bytes) {
        need(*to.held, before + bytes);
        std::memcpy(to.held->data + before, from, bytes);
        to.held->used = before + bytes;
        return;
    }
    const std::shared_ptr<storage> held = to.held;
    if (before + bytes > held->room) held->prepare(before + bytes);
    const std::size_t had = held->room;
    turn alone({&to});
    {
        const unlocked others(true);
        if (before + bytes > had) alone.room(0, held->make_room(before + bytes));
        std::memcpy(held->data + before, from, bytes);
    }
    held->used = before + bytes;
}

void append_text(column& to, const std::int64_t* offsets, std::size_t count, const char* bytes) {
    need_writable(to);
    begin_text(to);
    const std::size_t rows = to.rows();
    if (to.said && count > *to.said - (std::min)(*to.said, rows)) throw std::length_error("headroom: past max_elements");
    const auto length = static_cast<std::size_t>(offsets[count] - offsets[0]);
    need(*to.held, to.held->used + count * 8);
    need(*to.bytes, to.bytes->used + length);
    need_bits(to, rows + count);
    if (length != 0) std::memcpy(to.bytes->data + to.bytes->used, bytes + offsets[0], length);
    const std::int64_t shift = static_cast<std::int64_t>(to.bytes->used) - offsets[0];
    auto* const ends = reinterpret_cast<std::int64_t*>(to.held->data + to.held->used);
    for (std::size_t i = 0; i < count; ++i) ends[i] = offsets[i + 1] + shift;
    to.bytes->used += length;
    if (to.valid != nullptr) set_present(to, rows, count, true);
    to.held->used += count * 8;
}

namespace {

// More bytes of one piece of a column.
struct growth {
    std::shared_ptr<storage> of;
    std::size_t column;
    bool elements;    // those that say how many rows there are
    const std::byte* from;
    std::size_t bytes;
    std::int64_t shift;    // is added to each, where these are ends of text
};

void add_growth(std::vector<growth>& all, std::size_t index, column& to, const column& from) {
    need_writable(to);
    begin_text(to);
    const std::size_t rows = from.rows();
    if (to.said && rows > *to.said - (std::min)(*to.said, to.rows())) throw std::length_error("headroom: past max_elements");
    if (to.bytes != nullptr) {
        const auto shift = static_cast<std::int64_t>(to.bytes->used);
        all.push_back({to.bytes, index, false, from.bytes->data, from.bytes->used, 0});
        all.push_back({to.held, index, true, from.held->data + 8, rows * 8, shift});
    } else {
        all.push_back({to.held, index, true, from.held->data, rows * to.type.width, 0});
    }
}

}    // namespace

void append_columns(const std::vector<std::shared_ptr<column>>& to, const std::vector<std::shared_ptr<column>>& from) {
    std::vector<growth> all;
    std::vector<column*> columns;
    std::size_t bytes = 0;
    if (to.empty() || from.front()->rows() == 0) return;
    for (std::size_t i = 0; i < to.size(); ++i) {
        add_growth(all, i, *to[i], *from[i]);
        columns.push_back(to[i].get());
        need_bits(*to[i], to[i]->rows() + from[i]->rows());
    }
    std::vector<std::size_t> rooms;
    for (const growth& each : all) {
        if (each.of->used + each.bytes > each.of->room) each.of->prepare(each.of->used + each.bytes);
        rooms.push_back(each.of->room);
        bytes += each.bytes;
    }
    turn alone(columns);
    {
        const unlocked others(bytes >= many_bytes);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const growth& each = all[i];
            if (each.of->used + each.bytes > rooms[i]) rooms[i] = each.of->make_room(each.of->used + each.bytes);
            if (each.elements) alone.room(each.column, rooms[i]);    // (what comes later may be refused)
        }
        for (const growth& each : all) {
            if (each.bytes == 0) continue;
            std::byte* const place = each.of->data + each.of->used;
            std::memcpy(place, each.from, each.bytes);
            if (each.shift == 0 || !each.elements) continue;
            auto* const ends = reinterpret_cast<std::int64_t*>(place);
            for (std::size_t i = 0; i < each.bytes / 8; ++i) ends[i] += each.shift;
        }
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i]->valid == nullptr) continue;
        const std::size_t rows = to[i]->rows();
        for (std::size_t row = 0; row < from[i]->rows(); ++row) set_present(*to[i], rows + row, 1, from[i]->present(row));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].of->used += all[i].bytes;
        if (!all[i].elements) all[i].of->room = rooms[i];
    }
}

void set_present(column& of, std::size_t first, std::size_t count, bool there) noexcept {
    auto* const bits = reinterpret_cast<std::uint8_t*>(of.valid->data);
    const auto set = [&](std::size_t row) {
        const auto mask = static_cast<std::uint8_t>(1U << row % 8);
        bits[row / 8] = static_cast<std::uint8_t>(there ? bits[row / 8] | mask : bits[row / 8] & ~mask);
    };
    std::size_t row = first;
    const std::size_t end = first + count;
    for (; row != end && row % 8 != 0; ++row) set(row);
    if (end - row >= 8) {
        std::memset(bits + row / 8, there ? 0xFF : 0, (end - row) / 8);
        row += (end - row) / 8 * 8;
    }
    for (; row != end; ++row) set(row);
}

std::size_t nulls_in(const column& of, std::size_t rows) noexcept {
    if (is_time(of.type.kind) && of.type.shape.empty()) {
        std::size_t found = 0;
        const auto* const times = reinterpret_cast<const std::int64_t*>(of.held->data);
        for (std::size_t i = 0; i < rows; ++i) found += times[i] == not_a_time ? 1U : 0U;
        return found;
    }
    if (of.valid == nullptr) return 0;
    return headroom::detail::zeros_among(reinterpret_cast<const std::uint8_t*>(of.valid->data), 0, rows);
}

void truncate(column& of, std::size_t rows) noexcept {
    if (of.is_text()) {
        const bool begun = of.held->used != 0;    // (else bytes may have been committed before any offset was)
        of.bytes->used = begun ? static_cast<std::size_t>(of.ends()[rows]) : 0;
        of.held->used = begun ? (rows + 1) * 8 : 0;
    } else {
        of.held->used = rows * of.type.width;
    }
    if (of.valid != nullptr) of.valid->used = (std::min)(of.valid->used, bytes_of_bits(rows));
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

void reserve(column& of, std::size_t rows) {
    need_writable(of);
    if (rows > of.held->limit / of.type.width) throw std::length_error("headroom: past max_elements");
    need(*of.held, rows * of.type.width);
    if (of.valid != nullptr) need(*of.valid, bytes_of_bits(rows));
}

void publish(column& of) {
    for (const auto& each : {of.bytes, of.valid, of.held}) {
        if (each != nullptr && each->failed()) return;    // what the others have does not belong to it
    }
    if (of.bytes != nullptr) of.bytes->publish();
    if (of.valid != nullptr) of.valid->publish();
    of.held->publish();
}

void commit(column& of) {
    if (!of.held->writable) return;
    turn alone({&of});
    try {
        const unlocked others(true);
        if (of.held->failed()) of.held->commit();    // throws, before text and bits are cut that the elements on the disk need
        if (of.bytes != nullptr) of.bytes->commit();
        if (of.valid != nullptr) of.valid->commit();
        of.held->commit();
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
    for (const auto& each : {of.bytes, of.valid, of.held}) {
        try {
            if (each != nullptr) each->close();
        } catch (...) {
            if (!failed) failed = std::current_exception();
            keep_committed(of);
        }
    }
    if (failed) std::rethrow_exception(failed);
}

void view(column& of) {
    of.held->view();
    if (of.bytes != nullptr) of.bytes->view();
    if (of.valid != nullptr) of.valid->view();
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
