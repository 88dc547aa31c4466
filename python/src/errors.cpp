#include "errors.hpp"

#include <nanobind/nanobind.h>

#include <headroom/file_vector.hpp>
#include <headroom/reservation.hpp>

#include <new>
#include <stdexcept>
#include <system_error>

namespace nb = nanobind;

namespace headroom_python {
namespace {

// FileNotFoundError, FileExistsError, BlockingIOError, ...: OSError itself chooses by the number.
void set_os_error(const std::error_code& code, const char* what) noexcept {
    PyObject* const made = PyObject_CallFunction(PyExc_OSError, "is", code.default_error_condition().value(), what);
    if (made == nullptr) return;
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made)), made);
    Py_DECREF(made);
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
            PyErr_SetString(PyExc_MemoryError, refused.what());
        } else {
            set_os_error(code, refused.what());    // the disk is full, a quota used up
        }
    } catch (const std::bad_alloc& refused) {
        PyErr_SetString(PyExc_MemoryError, refused.what());
    } catch (const headroom::file_error& error) {
        if (error.code() == std::errc::bad_message) {
            PyErr_SetString(PyExc_ValueError, error.what());
        } else {
            set_os_error(error.code(), error.what());
        }
    } catch (const std::system_error& error) {
        set_os_error(error.code(), error.what());
    } catch (const std::length_error& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::invalid_argument& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const nb::builtin_exception& error) {
        PyErr_SetString(PyExc_TypeError, error.what());
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
}

}    // namespace headroom_python
