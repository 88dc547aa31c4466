// SPDX-License-Identifier: MIT
#include "errors.hpp"

#include <nanobind/nanobind.h>

#include <headroom/file_vector.hpp>
#include <headroom/reservation.hpp>

#include <chrono>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

namespace nb = nanobind;

namespace headroom_python {
namespace {

// Without the names that things have in C++.
const char* plain(const char* words) noexcept {
    std::string_view left = words;
    for (const std::string_view prefix : {"headroom: ", "headroom::file_vector: ", "import_arrow(): ", "arrow: "}) {
        if (left.substr(0, prefix.size()) == prefix) left.remove_prefix(prefix.size());
    }
    return left.data();
}

// Messages name files, whose names may be of any letters.
PyObject* words_of(const char* what) noexcept { return PyUnicode_DecodeFSDefault(plain(what)); }

void set_error(PyObject* type, const char* what) noexcept {
    PyObject* const words = words_of(what);
    if (words == nullptr) return;
    PyErr_SetObject(type, words);
    Py_DECREF(words);
}

// FileNotFoundError, FileExistsError, BlockingIOError, ...: OSError itself chooses by the number.
void set_os_error(const std::error_code& code, const char* what) noexcept {
    PyObject* const words = words_of(what);
    if (words == nullptr) return;
    PyObject* const made = PyObject_CallFunction(PyExc_OSError, "iN", code.default_error_condition().value(), words);
    if (made == nullptr) return;
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made)), made);
    Py_DECREF(made);
}

PyObject* type_of(nb::exception_type type) noexcept {
    switch (type) {
        case nb::exception_type::value_error: return PyExc_ValueError;
        case nb::exception_type::key_error: return PyExc_KeyError;
        case nb::exception_type::index_error: return PyExc_IndexError;
        case nb::exception_type::attribute_error: return PyExc_AttributeError;
        case nb::exception_type::import_error: return PyExc_ImportError;
        case nb::exception_type::buffer_error: return PyExc_BufferError;
        default: return PyExc_TypeError;
    }
}

}    // namespace

void set_python_error() noexcept {
    try {
        throw;
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const headroom::refused& refused) {
        const std::error_code code = refused.code();
        if (code == std::errc::not_enough_memory || code == std::errc::resource_unavailable_try_again) {
            set_error(PyExc_MemoryError, refused.what());
        } else {
            set_os_error(code, refused.what());    // the disk is full, a quota used up
        }
    } catch (const std::bad_alloc& refused) {
        set_error(PyExc_MemoryError, refused.what());
    } catch (const headroom::file_error& error) {
        if (error.code() == std::errc::bad_message) {
            set_error(PyExc_ValueError, error.what());
        } else {
            set_os_error(error.code(), error.what());
        }
    } catch (const std::system_error& error) {
        set_os_error(error.code(), error.what());
    } catch (const std::length_error& error) {
        set_error(PyExc_ValueError, error.what());
    } catch (const std::invalid_argument& error) {
        set_error(PyExc_ValueError, error.what());
    } catch (const nb::builtin_exception& error) {
        set_error(type_of(error.type()), error.what());
    } catch (const std::exception& error) {
        set_error(PyExc_RuntimeError, error.what());
    } catch (...) {
        wait_for_the_end();    // (nothing else is thrown that is no std::exception)
    }
}

void wait_for_the_end() noexcept {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}    // namespace headroom_python
