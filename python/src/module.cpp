#include <nanobind/stl/string.h>

#include <headroom/reservation.hpp>

#include <new>
#include <system_error>

#include "array.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
    module.doc() = "The compiled part of headroom: see help(headroom).";
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::bad_alloc& refused) {    // with what was refused, and why
            PyErr_SetString(PyExc_MemoryError, refused.what());
        } catch (const std::system_error& error) {
            const nb::object made = nb::steal(PyObject_CallFunction(PyExc_OSError, "is", error.code().value(), error.what()));
            if (made.is_valid()) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
        }
    });
    headroom_python::bind_array(module);
    module.def("reservations", [] {
        nb::list all;
        for (const headroom::owner& each : headroom::reservations()) {
            all.append(nb::make_tuple(reinterpret_cast<std::uintptr_t>(each.base), each.reserved, each.committed));
        }
        return all;
    }, "The address ranges that arrays hold now: where each begins, and how many bytes of it are reserved and committed.");
}
