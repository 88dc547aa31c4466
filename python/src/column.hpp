// SPDX-License-Identifier: MIT
// A column: what an Array is, and what the tables that it is in share with it.
//
// It lies in one piece of memory or file, or in several: of text, where each element ends (an offset of 64 bits) and the bytes;
// where elements may be null, a bit for each that says whether it is there. How many rows there are says the first piece alone: it is
// written, published and committed last. So whatever is lost in between, no row is there by half.
#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "errors.hpp"
#include "kinds.hpp"
#include "storage.hpp"

namespace headroom_python {

namespace nb = nanobind;

struct column;

// Appends one Python object. Sets a Python error and returns false where it cannot; the column is as it was then.
using appending = bool (*)(column& to, PyObject* value) noexcept;
[[nodiscard]] appending appending_of(const column& of) noexcept;

// Type of a column's elements.
struct element_type {
    headroom_python::kind kind{};
    std::size_t item = 0;             // bytes of a number
    std::size_t width = 0;            // bytes of an element, which may be an array of numbers itself
    std::vector<Py_ssize_t> shape;    // of an element; empty of a number
    bool nullable = false;
    nb::object dtype;      // NumPy's, of a structure
    std::string format;    // the buffer protocol's; empty where it has none
    std::size_t alignment = 1;
};

struct column : std::enable_shared_from_this<column> {
    column() = default;
    // Commits what is in files, the elements last, unless close() did.
    ~column();

    element_type type;
    std::shared_ptr<storage> held;    // elements; of text, where they end
    std::shared_ptr<storage> bytes;
    std::shared_ptr<storage> valid;
    appending append = nullptr;         // the kind's own, so that no append asks again what it is
    std::string path;                   // of the file, in the file system's own letters; empty without one
    std::optional<std::size_t> said;    // max_elements
    bool closed = false;

    // Those in files, in a list that Python's lock guards.
    column* next = nullptr;
    column* previous = nullptr;

    // While one thread copies or waits without Python's lock: the process's life in which it does. A forked child has a new one,
    // and does not wait for a thread that it has not.
    unsigned busy = 0;
    std::mutex mutex;
    std::condition_variable no_longer_busy;

    [[nodiscard]] bool is_text() const noexcept { return type.kind == kind::text; }
    [[nodiscard]] std::size_t rows() const noexcept { return rows_in(held->used); }
    [[nodiscard]] std::size_t committed_rows() const noexcept { return rows_in(held->committed()); }
    [[nodiscard]] std::size_t rows_in(std::size_t length) const noexcept {
        const std::size_t all = length / type.width;
        return is_text() && all != 0 ? all - 1 : all;
    }
    [[nodiscard]] bool present(std::size_t row) const noexcept {
        return valid == nullptr || (std::to_integer<unsigned>(valid->data[row / 8]) >> row % 8 & 1U) != 0;
    }
    [[nodiscard]] const std::int64_t* ends() const noexcept { return reinterpret_cast<const std::int64_t*>(held->data); }
    // Calls `work` with each of the pieces that there are, the elements last.
    template <class Work>
    void each_piece(Work work) const {
        for (storage* const piece : {bytes.get(), valid.get(), held.get()}) {
            if (piece != nullptr) work(*piece);
        }
    }
};

// Rows of a row's bytes, no thread changing them meanwhile, are many from here on: Python's lock is let go while they are copied.
inline constexpr std::size_t many_bytes = std::size_t{1} << 20;

// From here on a forked child calls busy columns its own, and reads its parent's files.
void begin_new_life() noexcept;

// Sets ValueError or BufferError and returns false where the column is closed, or open for reading only.
[[nodiscard]] bool expect_open(const column& of) noexcept;
[[nodiscard]] bool expect_writable(const column& of) noexcept;
// As exceptions: throw ValueError or BufferError under the same conditions.
void need_open(const column& of);
void need_writable(const column& of);

// Waits until no other thread copies into it, without Python's lock meanwhile. Returns true if it released that lock.
bool wait_for_turn(column& of) noexcept;

// --- Appending a row in three steps: what may run Python code, what may fail, and what does neither.

struct staged {
    alignas(16) std::byte small[16]{};
    std::vector<std::byte> large;    // of elements that are more than that
    bool present = true;
    const char* text = nullptr;
    std::size_t length = 0;
    nb::object keeps;    // what text points into

    [[nodiscard]] const std::byte* fixed() const noexcept { return large.empty() ? small : large.data(); }
};
// Throws nb::python_error, and other exceptions.
void stage(const column& to, PyObject* value, staged& made);
// Throws as storage's functions do, and where the column is not writable. Lets nothing else run.
void make_room_for(column& to, const staged& row);
void place(column& to, const staged& row) noexcept;
// Writes over an element. Precondition: row < rows(), writable, not text.
void replace(column& in, std::size_t row, const staged& by) noexcept;

// --- Many.

// Bytes of a bit for each row.
[[nodiscard]] constexpr std::size_t bytes_of_bits(std::size_t rows) noexcept { return rows / 8 + (rows % 8 != 0 ? 1 : 0); }
// Text has one offset before there are elements.
void begin_text(column& of);

// Appends elements that lie one after the other, `count` of them, all there. Not for text. Throws as make_room_for.
void append_elements(column& to, const void* from, std::size_t count);
// Appends to columns all of others of the same types, which no other thread changes meanwhile either: all of them or, where that
// throws, none.
void append_columns(const std::vector<std::shared_ptr<column>>& to, const std::vector<std::shared_ptr<column>>& from);
// Appends text: ends of Offset, the first the beginning, and which are there (null: all).
void append_text(column& to, const std::int64_t* offsets, std::size_t count, const char* bytes);

// Sets which of the elements from `first` on are there. Precondition: there is room for the bits.
void set_present(column& of, std::size_t first, std::size_t count, bool there) noexcept;
[[nodiscard]] std::size_t nulls_in(const column& of, std::size_t rows) noexcept;

// Cuts to `rows`, which are no more than there are. Precondition: writable, no thread copies.
void truncate(column& of, std::size_t rows) noexcept;
// Cuts to `rows`. If some of the removed rows were committed, waits until the disk has the new size: rows that take their places
// must not be found instead of them after a power cut. Throws as commit.
void cut(column& of, std::size_t rows);
void reserve(column& of, std::size_t rows);
void publish(column& of);
void commit(column& of);
void refresh(column& of);
void close(column& of);

// Pins all elements in place, before a view of them is exported. Throws as storage::view.
void view(column& of);

// A column of the same type in memory, without elements.
[[nodiscard]] std::shared_ptr<column> make_like(const column& of);
[[nodiscard]] std::shared_ptr<column> make_column(element_type type, std::optional<std::size_t> max_elements,
                                                  const std::string& path, file_mode mode);

}    // namespace headroom_python
