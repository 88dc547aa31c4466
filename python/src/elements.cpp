// SPDX-License-Identifier: MIT
// What becomes an element: numbers, truth values and times of Python and NumPy, and back; and which kind a dtype is.
#include "array.hpp"
#include "fast.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

namespace headroom_python {
bool is_numpys(PyObject* value, std::string_view kinds) noexcept {
    PyObject* const dtype = PyObject_GetAttrString(value, "dtype");
    PyObject* const kind = dtype != nullptr ? PyObject_GetAttrString(dtype, "kind") : nullptr;
    Py_ssize_t length = 0;
    const char* const letter = kind != nullptr && PyUnicode_Check(kind) ? PyUnicode_AsUTF8AndSize(kind, &length) : nullptr;
    const bool found = letter != nullptr && length == 1 && kinds.find(*letter) != std::string_view::npos;
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    PyErr_Clear();
    return found;
}

namespace {

template <class T>
bool convert_integer(PyObject* from, void* place) {
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

// Returns what an integer is for Python, or null, with no error set, of what is none.
nb::object integer_of(PyObject* from) {
    if (PyLong_Check(from)) return nb::borrow(from);
    if (PyFloat_Check(from) || PyIndex_Check(from) == 0) return {};
    PyObject* const made = PyNumber_Index(from);
    if (made == nullptr) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
        PyErr_Clear();    // an array has the slot, whatever it holds
    }
    return nb::steal(made);
}

// True if `kept`, which an integer was converted to, is that integer; sets OverflowError otherwise.
bool is_kept(const nb::object& integer, double kept) {
    if (!integer.is_valid() || (kept > -2048 && kept < 2048)) return true;    // every kind of float has these
    const nb::object back = std::isfinite(kept) ? nb::steal(PyLong_FromDouble(kept)) : nb::none();
    const int same = PyObject_RichCompareBool(integer.ptr(), back.ptr(), Py_EQ);
    if (same == 0)
        PyErr_Format(PyExc_OverflowError, "%R does not fit into the array's numbers, which would round it", integer.ptr());
    return same == 1;
}

template <class T>
bool convert_float(PyObject* from, void* place) {
    nb::object integer;
    if (!PyFloat_CheckExact(from)) {
        if (!PyFloat_Check(from) && !PyLong_Check(from) && is_numpys(from, "cmM")) {
            PyErr_Format(PyExc_TypeError, "a real number is wanted, not %R", from);
            return false;
        }
        integer = integer_of(from);
    }
    const double wide =
        PyFloat_CheckExact(from) ? fast::value_of_float(from) : PyFloat_AsDouble(integer.is_valid() ? integer.ptr() : from);
    if (wide == -1.0 && PyErr_Occurred() != nullptr) return false;
    if constexpr (std::is_same_v<T, half>) {
        const half value = half_of(wide);
        if (!is_kept(integer, value_of(value))) return false;
        std::memcpy(place, &value, sizeof value);
    } else {
        const T value = static_cast<T>(wide);
        if (!is_kept(integer, static_cast<double>(value))) return false;
        std::memcpy(place, &value, sizeof value);
    }
    return true;
}

template <class T>
bool convert_complex(PyObject* from, void* place) {
    if (!PyComplex_CheckExact(from) && !PyFloat_CheckExact(from) && !PyLong_CheckExact(from) && is_numpys(from, "mM")) {
        PyErr_Format(PyExc_TypeError, "a number is wanted, not %R", from);
        return false;
    }
    const nb::object integer = integer_of(from);
    PyObject* number = from;
    if (PyComplex_Check(from) || PyObject_HasAttrString(from, "__complex__") == 0) {
        Py_INCREF(number);
    } else {
        number = PyObject_CallMethod(from, "__complex__", nullptr);    // NumPy's
        if (number == nullptr) return false;
    }
    const double real = PyComplex_RealAsDouble(number);
    const double imaginary = PyComplex_ImagAsDouble(number);
    Py_DECREF(number);
    if ((real == -1.0 || imaginary == -1.0) && PyErr_Occurred() != nullptr) return false;
    const T value(static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary));
    if (!is_kept(integer, static_cast<double>(value.real()))) return false;
    std::memcpy(place, &value, sizeof value);
    return true;
}

// The name of an object's type, without its module.
std::string type_name(PyObject* of) {
    return nb::cast<std::string>(nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(of))).attr("__name__"));
}

bool convert_bool(PyObject* from, void* place) {
    bool value = from == Py_True;
    if (!PyBool_Check(from)) {
        bool numpys = false;
        try {
            const nb::object type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(from)));
            const auto name = nb::cast<std::string>(type.attr("__name__"));
            numpys = (name == "bool" || name == "bool_") && nb::cast<std::string>(type.attr("__module__")) == "numpy";
        } catch (...) {
            PyErr_Clear();
        }
        if (!numpys) {
            PyErr_Format(PyExc_TypeError, "True or False is wanted, not %R", from);
            return false;
        }
        const int truth = PyObject_IsTrue(from);
        if (truth < 0) return false;
        value = truth != 0;
    }
    std::memcpy(place, &value, 1);
    return true;
}

nb::object values_module() {
    static_cast<void>(numpy());    // its absence is reported first
    return nb::module_::import_("headroom_arrays._values");
}

bool convert_time(kind to, PyObject* from, void* place) {
    if (PyLong_Check(from) && !PyBool_Check(from)) return convert_integer<std::int64_t>(from, place);
    return convert_integer<std::int64_t>(
        nb::object(values_module().attr("converted")(nb::borrow(from), facts(to).name).attr("view")("int64").attr("item")())
            .ptr(),
        place);
}

template <class T>
T read(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

}    // namespace

namespace {

// A missing element of a column that has such.
void put_missing(const element_type& type, std::byte* place) noexcept {
    std::memset(place, 0, type.width);
    if (is_time(type.kind)) {
        std::memcpy(place, &not_a_time, 8);
    } else if (is_float(type.kind)) {
        with_type(type.kind, [place]<class T>(type_tag<T>) {
            if constexpr (std::is_same_v<T, half>) {
                const half value = half_of(std::numeric_limits<double>::quiet_NaN());
                std::memcpy(place, &value, sizeof value);
            } else if constexpr (std::is_floating_point_v<T>) {
                const T value = std::numeric_limits<T>::quiet_NaN();
                std::memcpy(place, &value, sizeof value);
            }
        });
    }
}

// What NumPy makes of a row: its bytes.
void stage_row(const column& to, PyObject* value, std::byte* place) {
    const nb::object array = elements_of(to.type, nb::borrow(value), false);
    const buffer_view buffer(array.ptr());
    if (!buffer.held || static_cast<std::size_t>(buffer.view.len) != to.type.width) {
        throw nb::type_error("an element of another shape is wanted");
    }
    std::memcpy(place, buffer.view.buf, to.type.width);
}

}    // namespace

nb::object numpy() {
    try {
        return nb::module_::import_("numpy");
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ImportError)) throw;
    }
    throw nb::import_error("NumPy is needed for that");
}

nb::object elements_of(const element_type& type, const nb::object& values, bool several) {
    const bool structure = type.kind == kind::structure;
    nb::object given = values;
    if (structure && several && !PyList_Check(given.ptr()) && PyObject_HasAttrString(given.ptr(), "dtype") == 0)
        given = nb::list(given);
    const nb::object dtype = structure ? type.dtype : nb::object(nb::str(facts(type.kind).name));
    nb::object made = values_module().attr("converted")(given, dtype);
    const nb::tuple shape = nb::borrow<nb::tuple>(made.attr("shape"));
    const std::size_t before = several ? 1 : 0;
    bool same = shape.size() == type.shape.size() + before;
    for (std::size_t i = 0; same && i < type.shape.size(); ++i) same = nb::cast<Py_ssize_t>(shape[i + before]) == type.shape[i];
    if (!same) {
        const std::string words = "elements of shape " + shown_shape(type.shape) + " are wanted, not values of shape " +
                                  nb::cast<std::string>(nb::str(shape));
        throw nb::value_error(words.c_str());
    }
    made = numpy().attr("ascontiguousarray")(made);
    if (!several && type.shape.empty()) made = made.attr("reshape")(1);
    return made.attr("view")("uint8");
}

std::string shown_shape(const std::vector<Py_ssize_t>& shape) {
    std::string text = "(";
    for (const Py_ssize_t extent : shape) text += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
    if (shape.size() > 1) text.resize(text.size() - 2);
    return text + ")";
}

bool convert(kind to, PyObject* from, void* place) noexcept {
    return guarded(false, [&] {
        return with_type(to, [&]<class T>(type_tag<T>) {
            if constexpr (std::is_same_v<T, bool>) {
                return convert_bool(from, place);
            } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, half>) {
                return convert_float<T>(from, place);
            } else if constexpr (std::is_integral_v<T>) {
                return convert_integer<T>(from, place);
            } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
                return convert_complex<T>(from, place);
            } else {
                return convert_time(to, from, place);
            }
        });
    });
}

namespace {

// True if a value is missing: None, pandas' NA, or a masked element of NumPy's. Asks only those that are no plain numbers or text.
bool is_missing(PyObject* value) {
    if (value == Py_None) return true;
    if (PyUnicode_Check(value) || PyList_Check(value) || PyTuple_Check(value)) return false;
    if (PySequence_Check(value) == 0 && PyNumber_Check(value) != 0) return false;
    return nb::cast<bool>(nb::module_::import_("headroom_arrays._values").attr("missing")(nb::borrow(value)));
}

}    // namespace

void stage(const column& to, PyObject* value, staged& made) {
    const element_type& type = to.type;
    const bool several = !type.shape.empty() || type.kind == kind::structure;    // which is never missing as a whole
    const bool missing = !several && is_missing(value);
    if (missing && value != Py_None && !type.nullable && !is_time(type.kind)) {
        PyErr_Format(PyExc_TypeError, "%R is no %s: nullable=True makes an array that takes it", value, facts(type.kind).name);
        throw nb::python_error();
    }
    if (to.is_text()) {
        if (missing && type.nullable) {
            made.present = false;
            return;
        }
        if (!PyUnicode_Check(value)) {
            const std::string none = value == Py_None ? ": nullable=True makes an array that takes None" : "";
            throw nb::type_error(("str is wanted, not " + type_name(value) + none).c_str());
        }
        Py_ssize_t length = 0;
        made.text = PyUnicode_AsUTF8AndSize(value, &length);
        if (made.text == nullptr) throw nb::python_error();
        made.length = static_cast<std::size_t>(length);
        made.keeps = nb::borrow(value);
        return;
    }
    if (type.width > sizeof made.small) made.large.resize(type.width);
    std::byte* const place = made.large.empty() ? made.small : made.large.data();
    if (missing && (is_time(type.kind) || type.nullable)) {
        put_missing(type, place);
        made.present = false;
    } else if (several) {
        stage_row(to, value, place);
    } else if (!convert(type.kind, value, place)) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
        nb::python_error why;
        if (!nb::cast<bool>(nb::module_::import_("headroom_arrays._values").attr("missing")(nb::borrow(value)))) throw why;
        if (type.nullable) {    // a null of Arrow's, which is as much a number as others of its type
            put_missing(type, place);
            made.present = false;
            return;
        }
        PyErr_Format(PyExc_TypeError, "%R is no %s: nullable=True makes an array that takes it", value, facts(type.kind).name);
        throw nb::python_error();
    }
}

nb::object element(const column& of, std::size_t row) {
    if (!of.present(row)) return nb::none();
    if (of.is_text()) {
        const std::int64_t begin = of.ends()[row];
        const std::int64_t end = of.ends()[row + 1];
        if (begin < 0 || end < begin || static_cast<std::size_t>(end) > of.bytes->used) {
            throw nb::value_error("its offsets lead outside of its bytes");
        }
        const char* const text = begin == end ? "" : reinterpret_cast<const char*>(of.bytes->data) + begin;
        PyObject* const made = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(end - begin), nullptr);
        if (made == nullptr) throw nb::python_error();
        return nb::steal(made);
    }
    const std::byte* const at = of.held->data + row * of.type.width;
    if (is_time(of.type.kind)) {
        const std::string_view name = facts(of.type.kind).name;
        const bool instant = name.substr(0, 4) == "date";
        const std::string unit(name.substr(instant ? 11 : 12, name.size() - (instant ? 12 : 13)));
        const auto ticks = read<std::int64_t>(at);    // before an import, during which others may take away what lies there
        return numpy().attr(instant ? "datetime64" : "timedelta64")(ticks, unit);
    }
    return with_type(of.type.kind, [at]<class T>(type_tag<T>) -> nb::object {
        if constexpr (std::is_arithmetic_v<T>) {
            return nb::cast(read<T>(at));
        } else if constexpr (std::is_same_v<T, half>) {
            return nb::cast(value_of(read<half>(at)));
        } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
            const T value = read<T>(at);
            return nb::steal(PyComplex_FromDoubles(static_cast<double>(value.real()), static_cast<double>(value.imag())));
        } else {
            return nb::none();    // times: above; structures: NumPy's
        }
    });
}

namespace {

[[noreturn]] void refuse_dtype(nb::handle dtype) {
    std::string all;
    for (const kind_facts& each : facts_of) {
        if (each.bytes != 0) all += std::string(all.empty() ? "" : ", ") + each.name;
    }
    const std::string words =
        "no such dtype: " + nb::cast<std::string>(nb::repr(dtype)) + "; there are " + all + ", and NumPy's structured dtypes";
    throw nb::type_error(words.c_str());
}

// A structure of fields that hold no Python objects.
element_type structure_of(const nb::object& dtype) {
    if (nb::cast<bool>(dtype.attr("hasobject"))) throw nb::type_error("a structure may hold no Python objects");
    element_type made;
    made.kind = kind::structure;
    made.item = made.width = nb::cast<std::size_t>(dtype.attr("itemsize"));
    if (made.item == 0) throw nb::type_error("a structure has one field at least");
    made.alignment = nb::cast<std::size_t>(dtype.attr("alignment"));
    made.dtype = dtype;
    const nb::object none = numpy().attr("empty")(0, nb::arg("dtype") = dtype);
    PyObject* const view = PyMemoryView_FromObject(none.ptr());
    if (view == nullptr) {
        PyErr_Clear();    // of fields that the buffer protocol cannot name: NumPy reads it by its own interface
    } else {
        made.format = nb::cast<std::string>(nb::steal(view).attr("format"));
    }
    return made;
}

element_type number_of(kind of) {
    element_type made;
    made.kind = of;
    made.item = made.width = facts(of).bytes;
    made.alignment = facts(of).alignment;
    if (facts(of).format != nullptr) made.format = facts(of).format;
    return made;
}

// The names of all kinds, whose lengths the compiler counts.
constexpr auto names = [] {
    std::array<std::string_view, facts_of.size()> made;
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = facts_of[i].name;
    return made;
}();

// The letters of a str, which live as long as it does; none of one that is no text (half a surrogate pair).
std::string_view letters_of(nb::handle text) {
    Py_ssize_t length = 0;
    const char* const letters = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
    if (letters != nullptr) return {letters, static_cast<std::size_t>(length)};
    if (PyErr_ExceptionMatches(PyExc_UnicodeError) == 0) throw nb::python_error();
    PyErr_Clear();
    return {};
}

}    // namespace

element_type type_of(nb::handle dtype) {
    std::string_view name;
    nb::object numpys;    // owns the letters of a name of NumPy's
    if (dtype.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
        name = "float64";
    } else if (dtype.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) {
        name = "int64";
    } else if (dtype.ptr() == reinterpret_cast<PyObject*>(&PyBool_Type)) {
        name = "bool";
    } else if (dtype.ptr() == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
        name = "complex128";
    } else if (dtype.ptr() == reinterpret_cast<PyObject*>(&PyUnicode_Type)) {
        name = "str";
    } else if (PyUnicode_Check(dtype.ptr())) {
        name = letters_of(dtype);
    }
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i] == name && facts_of[i].bytes != 0) return number_of(static_cast<kind>(i));
        }
        if (round == 1) break;
        // NumPy knows other names, and its own types.
        try {
            const nb::object known = nb::module_::import_("numpy").attr("dtype")(dtype);
            if (!known.attr("names").is_none()) return structure_of(known);
            if (!nb::cast<bool>(known.attr("isnative"))) break;
            numpys = known.attr("name");
            name = letters_of(numpys);
            if (name == "str") break;    // strings of no length
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_UnicodeError) && !error.matches(PyExc_ImportError)) throw;
            break;
        }
    }
    refuse_dtype(dtype);
}

}    // namespace headroom_python
