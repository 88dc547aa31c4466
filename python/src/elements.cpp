// What becomes an element: numbers, truth values and times of Python and NumPy, and back; and which kind a dtype is.
#include "array.hpp"

#include <nanobind/stl/string.h>

#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>

namespace headroom_python {
namespace {

template <class T>
bool convert_integer(PyObject* from, void* place) noexcept {
    PyObject* number = from;
    if (PyLong_Check(from)) {
        Py_INCREF(number);
    } else {
        number = PyNumber_Index(from);
        if (number == nullptr) return false;
    }
    bool fits = true;
    T value{};
    if constexpr (std::is_signed_v<T>) {
        int overflow = 0;
        const long long wide = PyLong_AsLongLongAndOverflow(number, &overflow);
        fits = overflow == 0 && wide >= (std::numeric_limits<T>::min)() && wide <= (std::numeric_limits<T>::max)();
        value = static_cast<T>(wide);
    } else {
        const unsigned long long wide = PyLong_AsUnsignedLongLong(number);
        if (wide == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
            PyErr_Clear();
            fits = false;
        }
        fits = fits && wide <= (std::numeric_limits<T>::max)();
        value = static_cast<T>(wide);
    }
    if (!fits) {
        PyErr_Format(PyExc_OverflowError, "%R does not fit into %sint%d", number, std::is_signed_v<T> ? "" : "u",
                     static_cast<int>(sizeof(T) * 8));
    }
    Py_DECREF(number);
    if (fits) std::memcpy(place, &value, sizeof value);
    return fits;
}

template <class T>
bool convert_float(PyObject* from, void* place) noexcept {
    const double wide = PyFloat_CheckExact(from) ? PyFloat_AS_DOUBLE(from) : PyFloat_AsDouble(from);
    if (wide == -1.0 && PyErr_Occurred() != nullptr) return false;
    const T value = static_cast<T>(wide);
    std::memcpy(place, &value, sizeof value);
    return true;
}

bool convert_bool(PyObject* from, void* place) noexcept {
    bool value = from == Py_True;
    if (!PyBool_Check(from)) {
        const std::string_view type = Py_TYPE(from)->tp_name;
        if (type != "numpy.bool" && type != "numpy.bool_") {
            PyErr_Format(PyExc_TypeError, "True or False is wanted, not %s", Py_TYPE(from)->tp_name);
            return false;
        }
        const int truth = PyObject_IsTrue(from);
        if (truth < 0) return false;
        value = truth != 0;
    }
    std::memcpy(place, &value, 1);
    return true;
}

}    // namespace

nb::object ticks_of(kind to, const nb::object& values) {
    const nb::object numpy = nb::module_::import_("numpy");
    nb::object made = numpy.attr("asarray")(values);
    const auto of = nb::cast<std::string>(made.attr("dtype").attr("kind"));
    if (of != "i" && of != "u") {
        if (of != "M" && of != "m") made = numpy.attr("asarray")(values, nb::arg("dtype") = to < kind::timedelta_s ? "M8" : "m8");
        made = made.attr("astype")(facts(to).name, nb::arg("casting") = "same_kind");
    }
    return numpy.attr("ascontiguousarray")(made.attr("astype")("int64"));
}

namespace {

bool convert_time(kind to, PyObject* from, void* place) noexcept {
    if (PyLong_Check(from) && !PyBool_Check(from)) return convert_integer<std::int64_t>(from, place);
    try {
        return convert_integer<std::int64_t>(nb::object(ticks_of(to, nb::borrow(from)).attr("item")()).ptr(), place);
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    }
    return false;
}

template <class T>
T read(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

}    // namespace

bool convert(kind to, PyObject* from, void* place) noexcept {
    return with_type(to, [&]<class T>(type_tag<T>) {
        if constexpr (std::is_same_v<T, bool>) {
            return convert_bool(from, place);
        } else if constexpr (std::is_floating_point_v<T>) {
            return convert_float<T>(from, place);
        } else if constexpr (std::is_integral_v<T>) {
            return convert_integer<T>(from, place);
        } else {
            return convert_time(to, from, place);
        }
    });
}

nb::object element(const array& of, std::size_t index) {
    const std::byte* const at = of.held->data + index * of.width;
    if (is_time(of.kind)) {
        const std::string_view name = facts(of.kind).name;
        const bool instant = name.substr(0, 4) == "date";
        const std::string unit(name.substr(instant ? 11 : 12, name.size() - (instant ? 12 : 13)));
        return nb::module_::import_("numpy").attr(instant ? "datetime64" : "timedelta64")(read<std::int64_t>(at), unit);
    }
    return with_type(of.kind, [at]<class T>(type_tag<T>) -> nb::object {
        if constexpr (std::is_arithmetic_v<T>) {
            return nb::cast(read<T>(at));
        } else {
            return nb::none();    // times: above
        }
    });
}

kind kind_of(nb::handle dtype) {
    std::string name;
    if (dtype.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
        name = "float64";
    } else if (dtype.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) {
        name = "int64";
    } else if (dtype.ptr() == reinterpret_cast<PyObject*>(&PyBool_Type)) {
        name = "bool";
    } else if (PyUnicode_Check(dtype.ptr())) {
        name = nb::cast<std::string>(dtype);
    }
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < facts_of.size(); ++i) {
            if (name == facts_of[i].name) return static_cast<kind>(i);
        }
        if (round == 1) break;
        // NumPy knows other names, and its own types.
        try {
            const nb::object known = nb::module_::import_("numpy").attr("dtype")(dtype);
            if (!nb::cast<bool>(known.attr("isnative"))) break;
            name = nb::cast<std::string>(known.attr("name"));
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ImportError)) throw;
            break;
        }
    }
    std::string all;
    for (const kind_facts& each : facts_of) all += std::string(all.empty() ? "" : ", ") + each.name;
    throw nb::type_error(("no such dtype: " + nb::cast<std::string>(nb::repr(dtype)) + "; there are " + all).c_str());
}

}    // namespace headroom_python
