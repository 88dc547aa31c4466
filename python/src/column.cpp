// SPDX-License-Identifier: MIT
// A column's contents, and appending to it.
#include "column.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "turns.hpp"

namespace headroom_python {
namespace {

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

}    // namespace

std::atomic<unsigned> life{1};

// The one offset that text has before there are elements.
void begin_text(column& of) {
    if (!of.is_text() || of.held->used != 0 || !of.held->writable) return;
    need(*of.held, 8);
    std::memset(of.held->data, 0, 8);
    of.held->used = 8;
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

namespace {

// What appending `count` rows begins with. Throws as make_room_for.
void begin_appending(column& to, std::size_t count) {
    need_writable(to);
    begin_text(to);
    if (to.said && count > *to.said - (std::min)(*to.said, to.rows())) throw std::length_error("headroom: past max_elements");
}

}    // namespace

// --- One row.

void make_room_for(column& to, const staged& row) {
    begin_appending(to, 1);
    need(*to.held, to.held->used + to.type.width);
    if (to.bytes != nullptr) need(*to.bytes, to.bytes->used + row.length);
    need_bits(to, to.rows() + 1);
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
    begin_appending(to, count);
    if (count == 0) return;
    const std::size_t before = to.held->used;
    const std::size_t bytes = count * to.type.width;
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
    begin_appending(to, count);
    const std::size_t rows = to.rows();
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
    std::shared_ptr<storage> from;
    std::size_t skipped;    // bytes of it before those
    std::size_t bytes;
    std::int64_t shift;    // is added to each, where these are ends of text
};

void add_growth(std::vector<growth>& all, std::size_t index, column& to, const column& from, std::size_t rows) {
    begin_appending(to, rows);
    if (to.bytes != nullptr) {
        const auto shift = static_cast<std::int64_t>(to.bytes->used);
        all.push_back({to.bytes, index, false, from.bytes, 0, static_cast<std::size_t>(from.ends()[rows]), 0});
        all.push_back({to.held, index, true, from.held, 8, rows * 8, shift});
    } else {
        all.push_back({to.held, index, true, from.held, 0, rows * to.type.width, 0});
    }
}

}    // namespace

void append_columns(const std::vector<std::shared_ptr<column>>& to, const std::vector<std::shared_ptr<column>>& from) {
    std::vector<growth> all;
    std::vector<column*> columns;
    std::size_t bytes = 0;
    if (to.empty() || from.front()->rows() == 0) return;
    const std::size_t rows = from.front()->rows();
    for (std::size_t i = 0; i < to.size(); ++i) {
        add_growth(all, i, *to[i], *from[i], rows);
        columns.push_back(to[i].get());
        need_bits(*to[i], to[i]->rows() + rows);
    }
    for (std::size_t i = 0; i < to.size(); ++i) {    // nor may others change meanwhile what is copied
        if (from[i] != to[i]) columns.push_back(from[i].get());
    }
    for (const growth& each : all) bytes += each.bytes;
    const bool many = bytes >= many_bytes;
    std::vector<std::size_t> rooms;
    for (const growth& each : all) {
        if (each.of->used + each.bytes > each.of->room) each.of->prepare(each.of->used + each.bytes);
        for (const auto& piece : {each.of, each.from}) {
            if (many) piece->settle();    // a small block would move while it is copied, if others look at it
        }
        rooms.push_back(each.of->room);
    }
    turn alone(columns);
    {
        const unlocked others(many);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const growth& each = all[i];
            if (each.of->used + each.bytes > rooms[i]) rooms[i] = each.of->make_room(each.of->used + each.bytes);
            if (each.elements) alone.room(each.column, rooms[i]);    // (what comes later may be refused)
        }
        for (const growth& each : all) {
            if (each.bytes == 0) continue;
            std::byte* const place = each.of->data + each.of->used;
            std::memcpy(place, each.from->data + each.skipped, each.bytes);
            if (each.shift == 0 || !each.elements) continue;
            auto* const ends = reinterpret_cast<std::int64_t*>(place);
            for (std::size_t i = 0; i < each.bytes / 8; ++i) ends[i] += each.shift;
        }
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i]->valid == nullptr) continue;
        const std::size_t before = to[i]->rows();
        for (std::size_t row = 0; row < rows; ++row) set_present(*to[i], before + row, 1, from[i]->present(row));
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
    return headroom::detail::count_zero_bits(reinterpret_cast<const std::uint8_t*>(of.valid->data), 0, rows);
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

void reserve(column& of, std::size_t rows) {
    need_writable(of);
    if (rows > of.held->limit / of.type.width) throw std::length_error("headroom: past max_elements");
    need(*of.held, rows * of.type.width);
    if (of.valid != nullptr) need(*of.valid, bytes_of_bits(rows));
}

void view(column& of) {
    of.each_piece([](storage& piece) { piece.view(); });
}

}    // namespace headroom_python
