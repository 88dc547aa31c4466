// SPDX-License-Identifier: MIT
// headroom_arrays.Table: columns side by side. A row is in all of them or in none: how many there are is what the shortest has.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <headroom/arrow.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "exchange.hpp"

namespace headroom_python {
namespace {

// Columns are shared with their arrays: no Python object is held.
struct table {
    std::vector<std::pair<std::string, std::shared_ptr<column>>> columns;
    std::size_t rows_of_chunk = (std::numeric_limits<std::size_t>::max)();
};

std::size_t rows_of(const table& of) {
    std::size_t rows = (std::numeric_limits<std::size_t>::max)();
    for (const auto& [name, column] : of.columns) {
        need_open(*column);
        rows = (std::min)(rows, column->rows());
    }
    return rows;
}

void cut_to(const table& of, std::size_t rows) {
    for (const auto& each : of.columns) {
        if (each.second->rows() > rows) cut(*each.second, rows);
    }
}

// Waits until no thread copies into any of the columns, and expects that all can be written to. Nothing else runs from here on
// until Python's code does.
void wait_for_all(const table& of) {
    for (bool waited = true; waited;) {
        waited = false;
        for (const auto& each : of.columns) waited = wait_for_turn(*each.second) || waited;
    }
    for (const auto& each : of.columns) need_writable(*each.second);
}

// The values of a row, or columns of values, in the order of the table's columns.
std::vector<nb::object> in_order(const table& of, const nb::object& row) {
    std::vector<nb::object> made;
    const std::string wanted = std::to_string(of.columns.size());
    if (PyDict_Check(row.ptr())) {
        for (const auto& each : of.columns) {
            PyObject* const value = PyDict_GetItemString(row.ptr(), each.first.c_str());
            if (value == nullptr) throw nb::value_error(("there is no value for column '" + each.first + "'").c_str());
            made.push_back(nb::borrow(value));
        }
        if (static_cast<std::size_t>(PyDict_Size(row.ptr())) != made.size()) {
            throw nb::value_error(("the table has " + wanted + " columns, and the row has others, too").c_str());
        }
        return made;
    }
    if (PySequence_Check(row.ptr()) == 0 || PyUnicode_Check(row.ptr())) {
        throw nb::type_error("a row is a dict, or its values in the order of the columns");
    }
    for (const nb::handle value : row) made.push_back(nb::borrow(value));
    if (made.size() != of.columns.size()) {
        throw nb::value_error(("the table has " + wanted + " columns, not " + std::to_string(made.size())).c_str());
    }
    return made;
}

void append_row(const table& of, const nb::object& row) {
    const std::vector<nb::object> values = in_order(of, row);
    std::vector<staged> made(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) stage(*of.columns[i].second, values[i].ptr(), made[i]);
    wait_for_all(of);
    cut_to(of, rows_of(of));
    for (std::size_t i = 0; i < made.size(); ++i) make_room_for(*of.columns[i].second, made[i]);
    for (std::size_t i = 0; i < made.size(); ++i) place(*of.columns[i].second, made[i]);    // and from here on nothing fails
}

void extend_rows(const table& of, const nb::object& columns) {
    const std::vector<nb::object> values = in_order(of, columns);
    std::vector<std::shared_ptr<column>> made;
    for (std::size_t i = 0; i < values.size(); ++i) {    // aside: what gives values may be Python code, and fail
        made.push_back(make_like(*of.columns[i].second));
        if (!extend(*made.back(), values[i].ptr())) throw nb::python_error();
        if (made.back()->rows() != made.front()->rows()) {
            throw nb::value_error(("column '" + of.columns[i].first + "' is of another length than those before it").c_str());
        }
    }
    wait_for_all(of);
    cut_to(of, rows_of(of));
    std::vector<std::shared_ptr<column>> all;
    for (const auto& each : of.columns) all.push_back(each.second);
    append_columns(all, made);
}

nb::object table_stream(const table& of, const nb::object&) {
    const std::size_t rows = rows_of(of);
    std::vector<headroom::arrow_column> columns;
    columns.reserve(of.columns.size());
    for (const auto& [name, column] : of.columns) columns.push_back(arrow_column_of(*column, rows, name));
    auto stream = std::make_unique<ArrowArrayStream>();
    headroom::export_arrow_table(stream.get(), std::move(columns), headroom::chunk_rows(of.rows_of_chunk));
    return capsule(std::move(stream), "arrow_array_stream");
}

nb::object table_schema(const table& of) {
    std::vector<headroom::arrow_column> columns;
    for (const auto& [name, column] : of.columns) columns.push_back(arrow_column_of(*make_like(*column), 0, name));
    ArrowArray unused{};
    auto schema = std::make_unique<ArrowSchema>();
    headroom::export_arrow(headroom::arrow_column::record("", std::move(columns)), &unused, schema.get());
    unused.release(&unused);
    return capsule(std::move(schema), "arrow_schema");
}

// Throws if one column is in memory or in a file without a commit, perhaps because of a mistyped path, while others have committed
// rows: those must not be cut to match it. A crash does not leave such files: they are committed, empty, when they become a table's.
void expect_no_stranger(const table& of) {
    for (const auto& [name, column] : of.columns) {
        for (const auto& [other, longer] : of.columns) {
            if (!column->held->is_new() || longer->committed_rows() <= column->rows()) continue;
            const std::string where = column->path.empty() ? "in memory" : "new: \"" + column->path + "\"";
            const std::string words = "column '" + name + "' is " + where + ", and has " + std::to_string(column->rows()) +
                                      " rows; of '" + other + "' " + std::to_string(longer->committed_rows()) +
                                      " are committed, which would be cut. Is the path right? A new column is filled first";
            throw nb::value_error(words.c_str());
        }
    }
    for (const auto& each : of.columns) {
        if (each.second->path.empty() || !each.second->held->is_new()) continue;
        wait_for_turn(*each.second);
        commit(*each.second);
    }
}

void construct_table(table* place, const nb::object& given, const nb::object& chunk_rows) {
    if (PyDict_Check(given.ptr()) == 0) {
        PyErr_Format(PyExc_TypeError, "columns: a dict of names and arrays is expected, not %s", Py_TYPE(given.ptr())->tp_name);
        throw nb::python_error();
    }
    const auto columns = nb::borrow<nb::dict>(given);
    table made;
    for (const auto& [name, column] : columns) {
        if (!nb::isinstance<nb::str>(name)) throw nb::type_error("names of columns are str");
        if (!nb::isinstance<array>(column) || !nb::inst_ready(column)) throw nb::type_error("columns are headroom_arrays.Array");
        for (const auto& [other, held] : made.columns) {
            if (held == nb::inst_ptr<array>(column)->held) throw nb::value_error("an array is a column once");
        }
        made.columns.emplace_back(nb::cast<std::string>(name), nb::inst_ptr<array>(column)->held);
    }
    if (made.columns.empty()) throw nb::value_error("a table has at least one column");
    if (const std::optional<std::size_t> rows = optional_count_argument(chunk_rows, "chunk_rows")) {
        if (*rows < 1) throw nb::value_error("chunk_rows is less than one");
        made.rows_of_chunk = *rows;
    }
    expect_no_stranger(made);
    ::new (static_cast<void*>(place)) table(std::move(made));
}

template <class Work>
void each_column(const table& of, Work work) {
    const auto columns = of.columns;    // kept, whatever runs meanwhile
    for (const auto& each : columns) {
        wait_for_turn(*each.second);
        need_open(*each.second);
        work(*each.second);
    }
}

}    // namespace

void bind_table(nb::module_& module) {
    nb::class_<table>(module, "Table",
                      "Named arrays side by side: what pyarrow.table, polars.DataFrame and duckdb take, without a copy.\n\n"
                      "A row is in all columns or in none: there are as many as the shortest column has.\n"
                      "columns: names and arrays. chunk_rows: rows of a chunk at most; all in one unless said.")
        .def("__init__", &construct_table, nb::arg("columns").none(), nb::kw_only(), nb::arg("chunk_rows").none() = nb::none())
        .def("__len__", &rows_of)
        .def(
            "append", &append_row, nb::arg("row"),
            "Appends a row: a dict, or values in the order of the columns. All of it or, where that raises, nothing. What a column\n"
            "has past the last whole row is cut first.")
        .def("extend", &extend_rows, nb::arg("columns"),
             "Appends rows, given as columns of equal length: a dict, or in order. All of them or, where that raises, none.")
        .def(
            "truncate",
            [](const table& self, const nb::object& count) {
                const std::size_t rows = count_argument(count, "count");
                wait_for_all(self);
                if (rows > rows_of(self)) throw nb::value_error("there are fewer rows than that");
                cut_to(self, rows);
            },
            nb::arg("count").none(), "Keeps the first rows only.")
        .def(
            "publish", [](const table& self) { each_column(self, publish); }, "Other processes see the rows so far.")
        .def(
            "commit", [](const table& self) { each_column(self, commit); },
            "Returns when the rows so far have reached the disk. After a crash there are those that every column has committed.")
        .def(
            "refresh", [](const table& self) { each_column(self, refresh); },
            "A reader takes over the rows that the writer has published.")
        .def(
            "close",
            [](const table& self) {
                const auto columns = self.columns;
                std::exception_ptr failed;
                for (const auto& each : columns) {
                    wait_for_turn(*each.second);
                    try {
                        close(*each.second);
                    } catch (...) {
                        if (!failed) failed = std::current_exception();
                    }
                }
                if (failed) std::rethrow_exception(failed);
            },
            "Closes all columns. Raises what the first raises that cannot be committed, once all are closed.")
        .def("__enter__", [](const nb::handle_t<table>& self) { return nb::borrow(self); })
        .def("__exit__", [](const nb::handle_t<table>& self, const nb::args&) { nb::borrow(self).attr("close")(); })
        .def_prop_ro(
            "column_names",
            [](const table& self) {
                nb::list names;
                for (const auto& column : self.columns) names.append(nb::cast(column.first));
                return names;
            },
            "Their names.")
        .def("__getitem__",
             [](const table& self, const std::string& name) {
                 for (const auto& column : self.columns) {
                     if (column.first == name) return array{column.second};
                 }
                 throw nb::key_error(name.c_str());
             })
        .def("__repr__",
             [](const table& self) { return "headroom_arrays.Table(" + std::to_string(self.columns.size()) + " columns)"; })
        .def("__arrow_c_schema__", &table_schema, "For Arrow: the names and types.")
        .def("__arrow_c_stream__", &table_stream, nb::arg("requested_schema") = nb::none(),
             "For Arrow: the rows that there are now.");
}

}    // namespace headroom_python
