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

    // Without files: no rows, and none can be appended.
    file_table() = default;

    // Takes over columns that are open. Where all are writers the columns end at size() rows from now on, which waits for the disk
    // only after a crash that came between two columns, and for columns to which nothing was ever committed: those are committed.
    // Throws as truncate(), and std::invalid_argument where some are writers and others are not, and where such a new column is
    // shorter than what is committed of another: no crash leaves that, so it belongs to no row, and nothing is cut for it.
    explicit file_table(file_vector<Ts>... columns) : file_table(std::tuple<file_vector<Ts>...>(std::move(columns)...)) {}

    // Makes a file for each column and opens them for writing. A file that is there already is taken where nothing was ever committed
    // to it: so what a crash in the middle of this call has left may be made again. Reserves addresses for `limit` rows.
    // Throws as file_vector's create() and open(), and file_error where a file has elements; files that were made stay then.
    static file_table create(const paths& files, max_elements limit) {
        return opened([&]<class T>(size_type i) { return make<T>(files[i], limit); }, std::make_index_sequence<column_count>());
    }

    // Opens the files of a table. Throws as file_vector's open(), and as the constructor.
    static file_table open(const paths& files, file_access access, max_elements limit) {
        return opened([&]<class T>(size_type i) { return file_vector<T>::open(files[i], access, limit); },
                      std::make_index_sequence<column_count>());
    }

    // --- Reading. O(columns).

    // Rows: as many as the shortest column has.
    [[nodiscard]] size_type size() const noexcept {
        return least([](const auto& column) { return column.size(); });
    }
    [[nodiscard]] bool empty() const noexcept { return this->size() == 0; }
    // Room for so many.
    [[nodiscard]] size_type max_size() const noexcept {
        return least([](const auto& column) { return column.max_size(); });
    }
    // The rows that survive a crash. A reader reads the files: a system call for each.
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

    // Whether rows may be appended.
    [[nodiscard]] bool is_writer() const noexcept {
        return std::apply([](const auto&... columns) { return (columns.is_writer() && ...); }, columns_);
    }

    // --- Appending: all or nothing. Throw what a column's push_back() throws; there are as many rows as before then.
    // Invalidate: nothing.

    // Amortised O(columns). The values may be elements of the table.
    void append(const Ts&... values) {
        rows_or_none([&] { with_each([](auto& column, const auto& value) { column.push_back(value); }, values...); });
    }
    // Rows given as columns, all of one length: std::length_error where they are not. O(elements).
    void append_columns(std::span<const Ts>... values) {
        const size_type count = std::get<0>(std::tie(values...)).size();
        if (((values.size() != count) || ...)) detail::throw_length_error("headroom::file_table: columns of different lengths");
        rows_or_none([&] { with_each([](auto& column, const auto& value) { column.append_range(value); }, values...); });
    }

    // Keeps the first `rows` rows of a writer. Where some of the others were committed it commits what is left, and waits for the disk:
    // otherwise rows that are appended in their place could be found half old, half new, after a power cut. Throws as commit().
    // Where one column refuses, the others are cut all the same, and the table appends no more. O(rows that are cut).
    void truncate(size_type rows) {
        each([rows](auto& column) { cut(column, rows); });
        each_to_its_end([rows](auto& column) {
            if (column.committed_size() > rows) column.commit();
        });
    }

    // --- What other processes, and later ones, see: as file_vector's, of all columns.

    void publish() noexcept {
        each([](auto& column) { column.publish(); });
    }
    // Returns when all rows are on the disk. Waits for it twice for each column. A crash in between leaves the rows of this commit or of
    // the one before. Throws as file_vector's; where is_writer() is false then, this table appends and commits no more: open it anew.
    void commit() {
        each([](auto& column) { column.commit(); });
    }
    // A reader: takes over the rows that the writer has published. Invalidates: what is past size().
    void refresh() noexcept {
        each([](auto& column) { column.refresh(); });
    }
    // Commits where there are rows that are not, and closes all files. Throws what the first column throws that cannot commit, once all are
    // closed. The destructor does the same, but cannot report a failure.
    void close() {
        each_to_its_end([](auto& column) { column.close(); });
    }

    // The columns, to be frozen, exported or used alone; the table is then without files. For a writer they are of equal length.
    [[nodiscard]] std::tuple<file_vector<Ts>...> take() && noexcept { return std::move(columns_); }

private:
    template <class Work>
    void each(Work work) {
        std::apply([&](auto&... columns) { (work(columns), ...); }, columns_);
    }
    // Throws what the first column throws, once all have had their turn.
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
    // (Elements need not be assignable.)
    template <class Column>
    static void cut(Column& column, size_type rows) noexcept {
        while (column.size() > rows) column.pop_back();
    }
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

    // One after the other, as braces say.
    template <class Open, size_type... I>
    static file_table opened(Open open, std::index_sequence<I...>) {
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
        // From now on it is told from one that is no part of the table.
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
