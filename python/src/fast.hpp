// SPDX-License-Identifier: MIT
// The calls into the interpreter that appending makes for each element: its own short cuts where it lets us have them, and the
// stable interface's functions, which later versions keep, where the module is made for those.
#pragma once

#include <Python.h>

namespace headroom_python::fast {

#ifdef Py_LIMITED_API

inline double value_of_float(PyObject* number) { return PyFloat_AsDouble(number); }
inline Py_ssize_t size_of_list(PyObject* list) { return PyList_Size(list); }
inline PyObject* item_of_list(PyObject* list, Py_ssize_t i) { return PyList_GetItem(list, i); }
inline PyObject* item_of_tuple(PyObject* tuple, Py_ssize_t i) { return PyTuple_GetItem(tuple, i); }
inline Py_ssize_t size_of_tuple(PyObject* tuple) { return PyTuple_Size(tuple); }
// The value of an int that fits; false, with no error set, of any other.
inline bool small_integer(PyObject* number, long long& value) noexcept {
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(number, &overflow);
    return overflow == 0;
}

#else

inline double value_of_float(PyObject* number) { return PyFloat_AS_DOUBLE(number); }
inline Py_ssize_t size_of_list(PyObject* list) { return PyList_GET_SIZE(list); }
inline PyObject* item_of_list(PyObject* list, Py_ssize_t i) { return PyList_GET_ITEM(list, i); }
inline PyObject* item_of_tuple(PyObject* tuple, Py_ssize_t i) { return PyTuple_GET_ITEM(tuple, i); }
inline Py_ssize_t size_of_tuple(PyObject* tuple) { return PyTuple_GET_SIZE(tuple); }
// The value of an int of few digits, whose digits can be looked at; most are. False of others.
inline bool small_integer(PyObject* number, long long& value) noexcept {
    auto* const integer = reinterpret_cast<PyLongObject*>(number);
#if PY_VERSION_HEX >= 0x030C0000
    if (PyUnstable_Long_IsCompact(integer) == 0) return false;
    value = PyUnstable_Long_CompactValue(integer);
#else
    const Py_ssize_t digits = Py_SIZE(number);
    if (digits >= -1 && digits <= 1) {    // none of 0: its place holds one all the same
        value = static_cast<long long>(digits) * static_cast<long long>(integer->ob_digit[0]);
        return true;
    }
    if (digits != 2 && digits != -2) return false;
    value = static_cast<long long>(integer->ob_digit[0]) | static_cast<long long>(integer->ob_digit[1]) << PyLong_SHIFT;
    if (digits < 0) value = -value;
#endif
    return true;
}

#endif

}    // namespace headroom_python::fast
