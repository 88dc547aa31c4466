// SPDX-License-Identifier: MIT
// headroom_arrays.Array, as C++ sees it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "column.hpp"

namespace headroom_python {

struct array {
    std::shared_ptr<column> held;
};

// Another object's buffer, if it exports one with strides and a format.
struct buffer_view {
    Py_buffer view{};
    bool held = false;
    explicit buffer_view(PyObject* from) : held(PyObject_GetBuffer(from, &view, PyBUF_STRIDES | PyBUF_FORMAT) == 0) {
        if (!held) PyErr_Clear();
    }
    buffer_view(const buffer_view&) = delete;
    ~buffer_view() {
        if (held) PyBuffer_Release(&view);
    }
};

// Runs `work`, and tells Python of what it throws: for the functions that Python calls without nanobind between.
template <class Result, class Work>
Result guarded(Result failed, Work work) noexcept {
    try {
        return work();
    } catch (...) {
        set_python_error();
    }
    return failed;
}

// The column of a Python object. Throws TypeError where __init__ was not called.
[[nodiscard]] column& column_of(nb::handle self);
// The column of a Python object, which must be open. Throws ValueError if it is closed.
[[nodiscard]] column& open_column(nb::handle self);

// Throws ImportError that says what is missing.
[[nodiscard]] nb::object numpy();

// Converts a Python object to an element at `place`. Sets a Python error and returns false if it cannot be one.
[[nodiscard]] bool convert(kind to, PyObject* from, void* place) noexcept;
[[nodiscard]] nb::object element(const column& of, std::size_t row);
// True if a value or an array of NumPy's has a dtype of one of these kinds, which are the letters of numpy.dtype.kind.
[[nodiscard]] bool is_numpys(PyObject* value, std::string_view kinds) noexcept;
// One element, or several, as NumPy reads them, as an array of bytes that lie one after the other. Throws ValueError where the
// shape is another one, and OverflowError where a value would be changed.
[[nodiscard]] nb::object elements_of(const element_type& type, const nb::object& values, bool several);
[[nodiscard]] std::string shown_shape(const std::vector<Py_ssize_t>& shape);

// Throws TypeError.
[[nodiscard]] element_type type_of(nb::handle dtype);

// Appends all that `values` gives. Sets a Python error and returns false where it cannot.
[[nodiscard]] bool extend(column& to, PyObject* values) noexcept;

// Appends the elements of an Arrow producer (__arrow_c_array__) if they are of the array's kind. Returns false, unchanged, if not.
[[nodiscard]] bool extend_from_arrow(column& to, nb::handle from);

// Properties of an array for Python: its path or None, the name of its dtype, the shape of an element.
[[nodiscard]] nb::object path_of(const column& of);
[[nodiscard]] nb::object dtype_of(const column& of);
[[nodiscard]] nb::object shape_of(const column& of);

void bind_array(nb::module_& module);
void bind_exchange(nb::class_<array>& type);
void bind_pickling(nb::class_<array>& type, nb::module_& module);
void bind_table(nb::module_& module);

}    // namespace headroom_python
