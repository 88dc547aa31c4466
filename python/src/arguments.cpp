// SPDX-License-Identifier: MIT
// Arguments of calls from Python: implements arguments.hpp.
#include "arguments.hpp"

#include <nanobind/stl/string.h>

#include <filesystem>

namespace headroom_python {
namespace {

[[noreturn]] void refuse_type(nb::handle given, const char* name, const char* expected) {
    PyErr_Format(PyExc_TypeError, "%s: %s is expected, not %s", name, expected, Py_TYPE(given.ptr())->tp_name);
    throw nb::python_error();
}

}    // namespace

std::size_t count_argument(nb::handle given, const char* name) {
    if (PyIndex_Check(given.ptr()) == 0) refuse_type(given, name, "an integer");
    const nb::object number = nb::steal(PyNumber_Index(given.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (value == -1 && overflow == 0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    if (overflow < 0 || (overflow == 0 && value < 0)) {
        PyErr_Format(PyExc_ValueError, "%s is negative", name);
        throw nb::python_error();
    }
    if (overflow > 0 || static_cast<unsigned long long>(value) > static_cast<unsigned long long>(PY_SSIZE_T_MAX)) {
        PyErr_Format(PyExc_OverflowError, "%s: %R does not fit into an index-sized integer", name, number.ptr());
        throw nb::python_error();
    }
    return static_cast<std::size_t>(value);
}

std::optional<std::size_t> optional_count_argument(nb::handle given, const char* name) {
    if (given.is_none()) return std::nullopt;
    return count_argument(given, name);
}

std::string text_argument(nb::handle given, const char* name) {
    if (PyUnicode_Check(given.ptr()) == 0) refuse_type(given, name, "a str");
    return nb::cast<std::string>(given);
}

std::string path_argument(nb::handle given, const char* name) {
    if (given.is_none()) return {};
    if (PyUnicode_Check(given.ptr()) == 0 && PyBytes_Check(given.ptr()) == 0 &&
        PyObject_HasAttrString(given.ptr(), "__fspath__") == 0) {
        refuse_type(given, name, "a str, bytes or os.PathLike object");
    }
    PyObject* encoded = nullptr;
    if (PyUnicode_FSConverter(given.ptr(), &encoded) == 0) throw nb::python_error();
    const nb::object letters = nb::steal(encoded);
    if (PyBytes_GET_SIZE(letters.ptr()) == 0) {
        PyErr_Format(PyExc_ValueError, "%s is empty", name);
        throw nb::python_error();
    }
    return std::filesystem::absolute(PyBytes_AsString(letters.ptr())).string();
}

}    // namespace headroom_python
