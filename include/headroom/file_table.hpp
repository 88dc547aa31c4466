// SPDX-License-Identifier: MIT
// Columns in files, of which rows are atomic: a row is in all of them or in none, whatever happens in between.
//
// Each column is a file_vector in a file of its own, which other programs may open alone; Python opens the same files as the
// columns of a headroom_arrays.Table. No other file says which they are, or how many rows there are: the rows are those that every
// column has, and after a crash those that every column has committed. What some columns have past them the next writer cuts.
//
// Choose it for records that are read by columns, must survive a crash (commit), or are followed by other processes (publish, refresh).
// Choose one file_vector of structs where whole records are read: it commits with two waits for the disk, a table with two a column.
//
// An append costs one to each column. A table may be used by one thread at a time; its files by one writer and any number of readers.
#pragma once

#include <headroom/detail/language.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <limits>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include <headroom/detail/file/faults.hpp>
#include <headroom/file_vector.hpp>

namespace headroom { inline namespace v0_1 {

template <class... Ts>
    requires(sizeof...(Ts) != 0 && (storable<Ts> && ...))
class file_table {
public:
    using size_type = std::size_t;
    using const_reference = std::tuple<const Ts&...>;
    static constexpr size_type column_count = sizeof...(Ts);
    using paths = std::array<std::filesystem::path, column_count>;

    // A table without files: no rows, and none can be appended.
    file_table() = default;

    // Takes over open columns. If all are writers, cuts the columns to size() rows. That waits for the disk only after a crash that came
    // between two columns, and for columns to which nothing was ever committed: it commits those. Throws like truncate(), and
    // std::invalid_argument if only some columns are writers, or if a never committed column is shorter than the committed part of
    // another: no crash leaves that, so the file belongs to no table, and nothing is cut.
    explicit file_table(file_vector<Ts>... columns) : file_table(std::tuple<file_vector<Ts>...>(std::move(columns)...)) {}

    // Makes a file for each column and opens it for writing. Opens an existing file if nothing was ever committed to it, so that a call
    // interrupted by a crash may be repeated. Reserves addresses for `limit` rows. Throws like file_vector's create() and open(), and
    // file_error if a file has elements; files that were made stay then.
    static file_table create(const paths& files, max_elements limit) {
        return open_columns([&]<class T>(size_type i) { return make<T>(files[i], limit); },
                            std::make_index_sequence<column_count>());
    }

    // Opens the files of a table. Throws like file_vector::open() and the constructor.
    static file_table open(const paths& files, file_access access, max_elements limit) {
        return open_columns([&]<class T>(size_type i) { return file_vector<T>::open(files[i], access, limit); },
                            std::make_index_sequence<column_count>());
    }

    // --- Reading. O(columns).

    // Number of rows: the size of the shortest column.
    [[nodiscard]] size_type size() const noexcept {
        return least([](const auto& column) { return column.size(); });
    }
    [[nodiscard]] bool empty() const noexcept { return this->size() == 0; }
    // Upper limit of size().
    [[nodiscard]] size_type max_size() const noexcept {
        return least([](const auto& column) { return column.max_size(); });
    }
    // Number of rows that survive a crash. A reader reads the files: a system call for each.
    [[nodiscard]] size_type committed_size() const noexcept {
        return least([](const auto& column) { return column.committed_size(); });
    }
    // The rows of a column. The span stays valid, and keeps its length, while rows are appended.
    template <size_type I>
    [[nodiscard]] auto column() const noexcept {
        return std::span(std::get<I>(columns_).data(), this->size());
    }
    // Precondition: row < size().
    [[nodiscard]] const_reference operator[](size_type row) const noexcept {
        return std::apply([row](const auto&... columns) { return const_reference(columns[row]...); }, columns_);
    }

    // True if rows may be appended.
    [[nodiscard]] bool is_writer() const noexcept {
        return std::apply([](const auto&... columns) { return (columns.is_writer() && ...); }, columns_);
    }

    // --- Appending: all columns or none. Throw what a column's push_back() throws; the rows are unchanged then. Invalidate: nothing.

    // Amortised O(columns). The values may be elements of the table.
    void append(const Ts&... values) {
        expect_writer();
        rows_or_none([&] { with_each([](auto& column, const auto& value) { column.push_back(value); }, values...); });
    }
    // Appends rows given as columns. Throws std::length_error if they differ in length. O(elements).
    void append_columns(std::span<const Ts>... values) {
        expect_writer();
        const size_type count = std::get<0>(std::tie(values...)).size();
        if (((values.size() != count) || ...)) detail::throw_length_error("headroom::file_table: columns of different lengths");
        rows_or_none([&] { with_each([](auto& column, const auto& value) { column.append_range(value); }, values...); });
    }

    // Keeps the first `rows` rows of a writer. If it cuts committed rows, commits the rest and waits for the disk: otherwise rows appended
    // in their place could be found half old, half new, after a power cut. Throws like commit(). If one column refuses to commit, all
    // are cut, and the table appends no more. If is_writer() is false, throws file_error and cuts none. O(rows cut).
    void truncate(size_type rows) {
        expect_writer();
        each([rows](auto& column) { cut(column, rows); });
        each_to_its_end([rows](auto& column) {
            if (column.committed_size() > rows) column.commit();
        });
    }

    // --- What other processes, and later ones, see: as file_vector's, of all columns.

    void publish() noexcept {
        each([](auto& column) { column.publish(); });
    }
    // Waits until all rows are on the disk: two waits for each column. A crash in between leaves the rows of this commit or of the one
    // before. Throws like file_vector::commit(); if is_writer() is false then, the table appends and commits no more: open it anew.
    void commit() {
        each([](auto& column) { column.commit(); });
    }
    // Reader: takes over the rows that the writer has published. Invalidates: rows past size().
    void refresh() noexcept {
        each([](auto& column) { column.refresh(); });
    }
    // Commits if there are uncommitted rows, and closes all files. Throws the exception of the first column that cannot commit, once all
    // are closed. The destructor does the same, but cannot report a failure.
    void close() {
        each_to_its_end([](auto& column) { column.close(); });
    }

    // Returns the columns, to be frozen, exported or used alone; the table then has no files. A writer's columns have equal length.
    [[nodiscard]] std::tuple<file_vector<Ts>...> take() && noexcept { return std::move(columns_); }

private:
    template <class Work>
    void each(Work work) {
        std::apply([&](auto&... columns) { (work(columns), ...); }, columns_);
    }
    template <class Work>
    void each(Work work) const {
        std::apply([&](const auto&... columns) { (work(columns), ...); }, columns_);
    }
    // Calls work(column) for every column. Throws the exception of the first column that throws, after the last call.
    template <class Work>
    void each_to_its_end(Work work) {
#if defined(__cpp_exceptions)
        std::exception_ptr failure;
        each([&](auto& column) {
            try {
                work(column);
            } catch (...) {
                if (!failure) failure = std::current_exception();
            }
        });
        if (failure) std::rethrow_exception(failure);
#else
        each(work);
#endif
    }
    // Returns the smallest ask(column).
    template <class Ask>
    [[nodiscard]] size_type least(Ask ask) const noexcept {
        size_type found = (std::numeric_limits<size_type>::max)();
        std::apply([&](const auto&... columns) { ((found = ask(columns) < found ? ask(columns) : found), ...); }, columns_);
        return found;
    }
    template <class Work, class... Values>
    void with_each(Work work, const Values&... values) {
        std::apply([&](auto&... columns) { (work(columns, values), ...); }, columns_);
    }
    // Throws file_error if a column may not be written to.
    void expect_writer() const {
        each([](const auto& column) {
            const detail::file_control* const control = detail::file_access_of::control(column);
            if (control != nullptr && !detail::may_write(control)) detail::throw_unwritable(control);
        });
    }
    // Shortens a column. Elements need not be assignable. Precondition: the column is a writer, or no longer than `rows`.
    template <class Column>
    static void cut(Column& column, size_type rows) noexcept {
        while (column.size() > rows) column.pop_back();
    }
    // Runs `work`, which appends to all columns. If it throws, cuts them back to the rows before.
    template <class Work>
    void rows_or_none(Work work) {
        struct cut_unless_done {
            file_table& table;
            size_type rows;
            bool done = false;
            ~cut_unless_done() {
                if (done) return;
                table.each([this](auto& column) { cut(column, rows); });
            }
        } guard{*this, std::get<0>(columns_).size()};    // of a writer all are of one length
        work();
        guard.done = true;
    }

    // Opens the columns one after the other: braces evaluate in order.
    template <class Open, size_type... I>
    static file_table open_columns(Open open, std::index_sequence<I...>) {
        return file_table(std::tuple<file_vector<Ts>...>{open.template operator()<Ts>(I)...});
    }
    explicit file_table(std::tuple<file_vector<Ts>...>&& columns) : columns_(std::move(columns)) {
        const bool any = std::apply([](const auto&... column) { return (column.is_writer() || ...); }, columns_);
        if (any && !is_writer()) detail::throw_mixed_access();
        if (!any) return;
        size_type committed = 0;
        each([&](const auto& column) { committed = column.committed_size() > committed ? column.committed_size() : committed; });
        each([&](const auto& column) {
            if (column.size() < committed && detail::never_committed(detail::file_access_of::control(column)))
                detail::throw_new_column();
        });
        // Commits a column that was never committed, so that it counts as a part of the table from now on.
        each([&](auto& column) {
            if (detail::never_committed(detail::file_access_of::control(column))) column.commit();
        });
        truncate(this->size());
    }
    template <class T>
    static file_vector<T> make(const std::filesystem::path& path, max_elements limit) {
        std::error_code unknown;
        if (!std::filesystem::exists(path, unknown)) return file_vector<T>::create(path, limit);
        auto there = file_vector<T>::open(path, file_access::read_write, limit);
        if (there.committed_size() == 0) return there;
        detail::throw_has_elements(path);
    }

    std::tuple<file_vector<Ts>...> columns_;
};

}}    // namespace headroom
