// SPDX-License-Identifier: MIT
// Appending: one element, or all of a buffer, a list, an Arrow array, or whatever gives its elements one by one.
#include "array.hpp"
#include "fast.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace headroom_python {
namespace {

// Slow path of append: the array is full, put_plain() does not take the value, or the element is not a plain number.
bool append_in_steps(column& to, PyObject* value) noexcept {
    return guarded(false, [&] {
        // Converted first, and aside: what converts may be Python code, which may append to this very array.
        staged row;
        need_open(to);
        stage(to, value, row);
        wait_for_turn(to);
        make_room_for(to, row);
        place(to, row);
        return true;
    });
}

// A number of Python's own of the type's sort, which fits, is met most. Runs no code of the user's. False, with no error set,
// where it is anything else.
template <class T>
bool put_plain(PyObject* from, std::byte* place) noexcept {
    if constexpr (std::is_same_v<T, bool>) {
        if (from != Py_True && from != Py_False) return false;
        *place = static_cast<std::byte>(from == Py_True ? 1 : 0);
        return true;
    } else if constexpr (std::is_floating_point_v<T>) {
        long long whole = 0;
        constexpr long long most = 1LL << std::numeric_limits<T>::digits;    // up to here a float has every integer
        T value{};
        if (PyFloat_CheckExact(from)) {
            value = static_cast<T>(fast::value_of_float(from));
        } else if (PyLong_CheckExact(from) && fast::small_integer(from, whole) && whole >= -most && whole <= most) {
            value = static_cast<T>(whole);
        } else {
            return false;
        }
        std::memcpy(place, &value, sizeof value);
        return true;
    } else if constexpr (std::is_integral_v<T>) {
        long long wide = 0;
        if (!PyLong_CheckExact(from) || !fast::small_integer(from, wide) || !std::in_range<T>(wide)) return false;
        const T value = static_cast<T>(wide);
        std::memcpy(place, &value, sizeof value);
        return true;
    } else if constexpr (sizeof(T) == 8 && !std::is_same_v<T, std::complex<float>>) {
        return put_plain<std::int64_t>(from, place);    // of times it is the count of their units
    } else {
        return false;
    }
}

template <class T>
bool append_as(column& to, PyObject* value) noexcept {
    storage& held = *to.held;
    if (held.room - held.used >= sizeof(T) && put_plain<T>(value, held.data + held.used)) {
        held.used += sizeof(T);
        return true;
    }
    return append_in_steps(to, value);
}

// Text is met most as a str that has room.
bool append_text_of(column& to, PyObject* value) noexcept {
    if (!PyUnicode_CheckExact(value) || to.valid != nullptr) return append_in_steps(to, value);
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(value, &length);
    if (text == nullptr) return false;
    storage& ends = *to.held;
    storage& bytes = *to.bytes;
    if (ends.room - ends.used < 8 || bytes.room - bytes.used < static_cast<std::size_t>(length))
        return append_in_steps(to, value);
    std::memcpy(bytes.data + bytes.used, text, static_cast<std::size_t>(length));
    bytes.used += static_cast<std::size_t>(length);
    const auto end = static_cast<std::int64_t>(bytes.used);
    std::memcpy(ends.data + ends.used, &end, 8);
    ends.used += 8;
    return true;
}

// True if a buffer's elements have the column's type.
bool same_format(const element_type& type, const Py_buffer& view) {
    if (view.itemsize != static_cast<Py_ssize_t>(type.item)) return false;
    std::string_view format = view.format == nullptr ? "B" : view.format;
    if (!format.empty() && (format[0] == '@' || format[0] == '=')) format.remove_prefix(1);
    if (type.kind == kind::structure) return !type.format.empty() && format == type.format;
    if (type.kind == kind::boolean || is_complex(type.kind) || type.kind == kind::float16) return format == type.format;
    if (format.size() != 1) return false;
    const std::string_view wanted = is_float(type.kind) ? "fd" : type.kind >= kind::uint8 ? "BHILQN" : "bhilqn";
    return wanted.find(format[0]) != std::string_view::npos;
}

// Appends a buffer's elements. False if `from` has no buffer of this type.
bool extend_from_buffer(column& to, PyObject* from) {
    if (to.type.format.empty() || PyObject_CheckBuffer(from) == 0) return false;
    const buffer_view buffer(from);
    if (!buffer.held || !same_format(to.type, buffer.view)) return false;
    const auto dimensions = static_cast<std::size_t>(buffer.view.ndim);
    bool same = dimensions == to.type.shape.size() + 1;
    for (std::size_t i = 1; same && i < dimensions; ++i) same = buffer.view.shape[i] == to.type.shape[i - 1];
    if (!same) {
        if (!to.type.shape.empty())
            throw std::invalid_argument("elements of shape " + shown_shape(to.type.shape) + " are wanted");
        throw std::invalid_argument("one dimension is wanted: pass values.ravel()");
    }
    const auto count = static_cast<std::size_t>(buffer.view.shape[0]);
    const auto* const first = static_cast<const std::byte*>(buffer.view.buf);
    wait_for_turn(to);
    if (PyBuffer_IsContiguous(&buffer.view, 'C') != 0) {
        append_elements(to, first, count);
        return true;
    }
    if (!to.type.shape.empty()) return false;    // NumPy puts it in order
    const std::size_t width = to.type.width;
    std::vector<std::byte> together(count * width);
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(together.data() + i * width, first + static_cast<Py_ssize_t>(i) * buffer.view.strides[0], width);
    }
    append_elements(to, together.data(), count);
    return true;
}

// What NumPy makes of the values, at once.
void extend_through_numpy(column& to, PyObject* values) {
    const nb::object given = nb::borrow(values);
    // NumPy reads whole columns of pandas, Polars and Arrow; one by one their times may lose digits.
    const bool numpys = PyObject_HasAttrString(values, "__array_interface__") != 0 || PyObject_CheckBuffer(values) != 0 ||
                        PyObject_HasAttrString(values, "__array__") != 0;
    const nb::object all = numpys ? numpy().attr("asarray")(given) : nb::object(nb::list(given));
    if (nb::len(all) == 0) return;    // NumPy takes nothing for float64; (what is no row of elements has no length)
    const nb::object bytes = elements_of(to.type, all, true);
    const buffer_view buffer(bytes.ptr());
    if (!buffer.held) throw std::invalid_argument("NumPy has no buffer of these elements");
    wait_for_turn(to);
    append_elements(to, buffer.view.buf, static_cast<std::size_t>(buffer.view.len) / to.type.width);
}

bool extend_each(column& to, PyObject* values) {
    // Converting an element may run Python code, which may change the list.
    const bool tuple = PyTuple_CheckExact(values) != 0;
    if (tuple || PyList_CheckExact(values)) {
        const auto size = [&] { return tuple ? fast::size_of_tuple(values) : fast::size_of_list(values); };
        for (Py_ssize_t i = 0; i < size(); ++i) {
            PyObject* const value = tuple ? fast::item_of_tuple(values, i) : fast::item_of_list(values, i);
            Py_INCREF(value);
            const bool done = to.append(to, value);
            Py_DECREF(value);
            if (!done) return false;
        }
        return true;
    }
    // Reserves memory for many elements before it takes the first one, as a list does, so that an oversized iterable is refused at once.
    // Not past max_elements: the elements that fit stay then.
    constexpr std::size_t many = std::size_t{64} << 20;
    const Py_ssize_t hint = PyObject_LengthHint(values, 0);
    if (hint < 0) return false;
    const std::size_t rows = to.rows() + static_cast<std::size_t>(hint);
    if (static_cast<std::size_t>(hint) > many / to.type.width && rows <= to.held->limit / to.type.width) reserve(to, rows);
    PyObject* const iterator = PyObject_GetIter(values);
    if (iterator == nullptr) return false;
    while (PyObject* const value = PyIter_Next(iterator)) {
        const bool done = to.append(to, value);
        Py_DECREF(value);
        if (!done) break;
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() == nullptr;
}

bool is_array(PyObject* object) { return nb::isinstance<array>(nb::handle(object)) && nb::inst_ready(nb::handle(object)); }

bool same_type(const element_type& a, const element_type& b) {
    if (a.kind != b.kind || a.shape != b.shape) return false;
    return a.kind != kind::structure || a.dtype.equal(b.dtype);
}

bool extend_from_array(column& to, PyObject* from) {
    if (!is_array(from)) return false;
    column& of = column_of(from);
    if (!same_type(to.type, of.type) || (of.valid != nullptr && !to.type.nullable)) return false;
    for (bool waited = true; waited;) waited = wait_for_turn(of) || wait_for_turn(to);
    need_open(of);
    const std::shared_ptr<column> source = nb::inst_ptr<array>(nb::handle(from))->held;
    append_columns({to.shared_from_this()}, {source});
    return true;
}

}    // namespace

appending appending_of(const column& of) noexcept {
    if (of.is_text()) return &append_text_of;
    if (of.valid != nullptr || !of.type.shape.empty() || of.type.kind == kind::structure) return &append_in_steps;
    return with_type(of.type.kind, []<class T>(type_tag<T>) -> appending { return &append_as<T>; });
}

namespace {

// Appends a masked array's elements, of which masked ones are nulls.
bool extend_masked(column& to, PyObject* values) {
    const nb::object plain = nb::module_::import_("headroom_arrays._values")
                                 .attr("unmasked")(nb::borrow(values), to.type.nullable, is_time(to.type.kind));
    if (plain.ptr() == values) return extend_each(to, values);
    return extend(to, plain.ptr());
}

}    // namespace

bool extend(column& to, PyObject* values) noexcept {
    if (!expect_writable(to)) return false;
    if (!PyList_CheckExact(values) && !PyTuple_CheckExact(values) && PyObject_HasAttrString(values, "mask") != 0 &&
        PyObject_HasAttrString(values, "hardmask") != 0) {
        return guarded(false, [&] { return extend_masked(to, values); });
    }
    const bool plain = to.type.shape.empty() && to.type.kind != kind::structure && !is_time(to.type.kind);
    if (plain && (PyList_CheckExact(values) || PyTuple_CheckExact(values))) {
        return guarded(false, [&] { return extend_each(to, values); });
    }
    return guarded(false, [&] {
        if (extend_from_array(to, values) || extend_from_buffer(to, values) || extend_from_arrow(to, values)) return true;
        // NumPy's numbers of another type are converted all at once.
        const bool numbers =
            !to.is_text() && PyObject_HasAttrString(values, "__array_interface__") != 0 && is_numpys(values, "biufc");
        if ((!plain || numbers) && !PyUnicode_Check(values)) {
            extend_through_numpy(to, values);
            return true;
        }
        return extend_each(to, values);
    });
}

}    // namespace headroom_python
