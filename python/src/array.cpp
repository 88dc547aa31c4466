// Appending, reading, and the buffer protocol. The two calls that programs make most, append and extend, are plain methods of
// the C API: the interpreter calls those in a third of the time of a call that is dispatched by its arguments' types.
#include "array.hpp"
#include "errors.hpp"
#include "file_storage.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace headroom_python {
namespace {

// As long as no max_elements is given: 16 GiB of addresses. They cost nothing; memory comes as elements do.
constexpr std::size_t default_bytes = sizeof(void*) >= 8 ? std::size_t{1} << 34 : std::size_t{1} << 26;

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

// The array of a Python object; null, with an error set, where __init__ has not been called.
array* array_of(PyObject* self) noexcept {
    if (!nb::inst_ready(self)) {
        PyErr_SetString(PyExc_TypeError, "Array.__init__ was not called");
        return nullptr;
    }
    return nb::inst_ptr<array>(self);
}

bool expect_writable(const array& of) noexcept {
    if (of.held->writable) return true;
    PyErr_SetString(PyExc_BufferError, "the array was opened for reading only");
    return false;
}

// --- append and extend.

// What is not met most: memory is wanted, or the value is not what put_plain takes.
bool append_slowly(array& to, PyObject* value) noexcept {
    // Converted first, and aside: what converts may be Python code, which may append to this very array.
    alignas(8) std::byte made[8];
    if (!convert(to.kind, value, made)) return false;
    storage& held = *to.held;
    if (held.room - held.used < to.width) {
        if (!expect_writable(to)) return false;
        if (!guarded(false, [&] {
                held.grow(held.used + to.width);
                return true;
            })) {
            return false;
        }
    }
    std::memcpy(held.data + held.used, made, to.width);
    held.used += to.width;
    return true;
}

// The value of an int of few digits, whose digits can be looked at; most are.
bool small_integer(PyObject* number, long long& value) noexcept {
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

// A number of Python's own of the type's sort, which fits, is met most. Runs no code of the user's. False, with no error set,
// where it is anything else.
template <class T>
bool put_plain(PyObject* from, std::byte* place) noexcept {
    if constexpr (std::is_same_v<T, bool>) {
        if (from != Py_True && from != Py_False) return false;
        *place = static_cast<std::byte>(from == Py_True ? 1 : 0);
        return true;
    } else if constexpr (std::is_floating_point_v<T>) {
        if (!PyFloat_CheckExact(from)) return false;
        const T value = static_cast<T>(PyFloat_AS_DOUBLE(from));
        std::memcpy(place, &value, sizeof value);
        return true;
    } else if constexpr (std::is_integral_v<T>) {
        long long wide = 0;
        if (!PyLong_CheckExact(from) || !small_integer(from, wide) || !std::in_range<T>(wide)) return false;
        const T value = static_cast<T>(wide);
        std::memcpy(place, &value, sizeof value);
        return true;
    } else {
        return put_plain<std::int64_t>(from, place);    // of times it is the count of their units
    }
}

template <class T>
bool append_as(array& to, PyObject* value) noexcept {
    storage& held = *to.held;
    if (held.room - held.used >= sizeof(T) && put_plain<T>(value, held.data + held.used)) {
        held.used += sizeof(T);
        return true;
    }
    return append_slowly(to, value);
}

PyObject* array_append(PyObject* self, PyObject* value) {
    array* const to = array_of(self);
    if (to == nullptr || !to->append(*to, value)) return nullptr;
    Py_RETURN_NONE;
}

// Whether a buffer's format is the kind's own: by what it means here, whatever letter it is written with.
bool same_format(kind of, const char* format, Py_ssize_t bytes) noexcept {
    if (format == nullptr) format = "B";
    if (*format == '@' || *format == '=' || *format == (PY_LITTLE_ENDIAN ? '<' : '>')) ++format;
    if (format[0] == '\0' || format[1] != '\0' || static_cast<std::size_t>(bytes) != facts(of).bytes) return false;
    const std::string_view wanted = of == kind::boolean   ? "?"
                                    : of >= kind::float32 ? "fd"
                                    : of >= kind::uint8   ? "BHILQN"
                                                          : "bhilqn";
    return wanted.find(format[0]) != std::string_view::npos;
}

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

// Appends what a buffer of the same kind holds. False where it is none, and the elements have to be asked one by one.
bool extend_from_buffer(array& to, PyObject* from) {
    if (is_time(to.kind) || PyObject_CheckBuffer(from) == 0) return false;
    const buffer_view buffer(from);
    if (!buffer.held || !same_format(to.kind, buffer.view.format, buffer.view.itemsize)) return false;
    if (buffer.view.ndim != 1) throw std::invalid_argument("one dimension is wanted: pass values.ravel()");
    const auto count = static_cast<std::size_t>(buffer.view.shape[0]);
    const Py_ssize_t stride = buffer.view.strides[0];
    const auto* const first = static_cast<const std::byte*>(buffer.view.buf);
    if (stride == static_cast<Py_ssize_t>(to.width)) {
        append_bytes(to, first, count * to.width);
        return true;
    }
    storage& held = *to.held;
    if (count > (held.limit - held.used) / to.width) throw std::length_error("headroom: past max_elements");
    if (held.room - held.used < count * to.width) held.grow(held.used + count * to.width);
    std::byte* place = held.data + held.used;
    for (std::size_t i = 0; i < count; ++i, place += to.width) {
        std::memcpy(place, first + static_cast<Py_ssize_t>(i) * stride, to.width);
    }
    held.used += count * to.width;
    return true;
}

bool extend_each(array& to, PyObject* values) {
    if (PyList_CheckExact(values)) {    // (What converts an element may be Python code, which may change the list.)
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); ++i) {
            PyObject* const value = PyList_GET_ITEM(values, i);
            Py_INCREF(value);
            const bool done = to.append(to, value);
            Py_DECREF(value);
            if (!done) return false;
        }
        return true;
    }
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

PyObject* array_extend(PyObject* self, PyObject* values) {
    array* const to = array_of(self);
    if (to == nullptr || !expect_writable(*to)) return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (extend_from_buffer(*to, values) || extend_from_arrow(*to, values)) Py_RETURN_NONE;
        if (is_time(to->kind) && !PyUnicode_Check(values)) {
            nb::object all = nb::borrow(values);
            if (PyObject_HasAttrString(values, "__array_interface__") == 0) all = nb::list(all);
            const nb::object ticks = ticks_of(to->kind, all);
            const buffer_view buffer(ticks.ptr());
            if (!buffer.held || buffer.view.ndim != 1) {
                throw std::invalid_argument("one dimension is wanted: pass values.ravel()");
            }
            append_bytes(*to, buffer.view.buf, static_cast<std::size_t>(buffer.view.len));
            Py_RETURN_NONE;
        }
        if (!extend_each(*to, values)) return nullptr;
        Py_RETURN_NONE;
    });
}

// --- The buffer protocol. What a view shows is counted when it is made; it stays valid while the array grows.

struct shape_and_stride {
    Py_ssize_t shape;
    Py_ssize_t stride;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    view->obj = nullptr;
    const array* const of = array_of(self);
    if (of == nullptr) return -1;
    const kind_facts& what = facts(of->kind);
    if (what.format == nullptr) {
        PyErr_Format(PyExc_BufferError, "the buffer protocol has no format for %s: use numpy.asarray(array)", what.name);
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !expect_writable(*of)) return -1;
    auto* const counts =
        new (std::nothrow) shape_and_stride{static_cast<Py_ssize_t>(of->size()), static_cast<Py_ssize_t>(of->width)};
    if (counts == nullptr) {
        PyErr_NoMemory();
        return -1;
    }
    view->buf = of->held->data;
    view->len = static_cast<Py_ssize_t>(of->held->used);
    view->itemsize = static_cast<Py_ssize_t>(of->width);
    view->readonly = of->held->writable ? 0 : 1;
    view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(what.format) : nullptr;
    view->ndim = 1;
    view->shape = (flags & PyBUF_ND) == PyBUF_ND ? &counts->shape : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &counts->stride : nullptr;
    view->suboffsets = nullptr;
    view->internal = counts;
    Py_INCREF(self);
    view->obj = self;
    return 0;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<shape_and_stride*>(view->internal); }

PyMethodDef methods[] = {
    {"append", array_append, METH_O,
     "append($self, value, /)\n--\n\nAppends one element. Raises TypeError or OverflowError where the value is no such element,\n"
     "ValueError past max_elements, MemoryError when memory is refused; the array is as it was then."},
    {"extend", array_extend, METH_O,
     "extend($self, values, /)\n--\n\nAppends all elements of a buffer, an Arrow array or an iterable. One of the same dtype is copied\n"
     "in one go, whole or not at all; of others the elements are asked one by one, and those before one that fails stay."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_methods, methods},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
    {0, nullptr},
};

// --- The rest.

std::size_t index_of(const array& of, Py_ssize_t index) {
    const auto size = static_cast<Py_ssize_t>(of.size());
    if (index < -size || index >= size) throw nb::index_error("array index out of range");
    return static_cast<std::size_t>(index < 0 ? index + size : index);
}

array& checked(nb::handle self) {
    array* const of = array_of(self.ptr());
    if (of == nullptr) throw nb::python_error();
    return *of;
}

// What NumPy or memoryview makes of the whole: they know how to slice, iterate and list.
nb::object whole(const nb::object& self) {
    if (is_time(checked(self).kind)) return nb::module_::import_("numpy").attr("asarray")(self);
    return nb::steal(PyMemoryView_FromObject(self.ptr()));
}

nb::object get_item(const nb::object& self, const nb::object& key) {
    const array& of = checked(self);
    if (PyIndex_Check(key.ptr())) {
        const Py_ssize_t index = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
        if (index == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
        return element(of, index_of(of, index));
    }
    if (!PySlice_Check(key.ptr())) throw nb::type_error("array indices must be integers or slices");
    return whole(self)[key];
}

void set_item(array& of, Py_ssize_t index, const nb::object& value) {
    alignas(8) std::byte made[8];
    if (!convert(of.kind, value.ptr(), made) || !expect_writable(of)) throw nb::python_error();
    std::memcpy(of.held->data + index_of(of, index) * of.width, made, of.width);
}

std::size_t bytes_of(const array& of, std::size_t elements) {
    if (elements > (std::numeric_limits<std::size_t>::max)() / 16) throw std::length_error("headroom: no array is that long");
    return elements * of.width;
}

void reserve(array& of, std::size_t elements) {
    if (!expect_writable(of)) throw nb::python_error();
    const std::size_t bytes = bytes_of(of, elements);
    if (bytes > of.held->room) of.held->grow(bytes);
}

// Without max_elements: as much as in memory, and room for a file to become twice as long.
std::size_t elements_by_default(const array& of, const std::filesystem::path& path) {
    std::error_code none_there;
    const std::uintmax_t bytes = std::filesystem::file_size(path, none_there);
    return (none_there ? default_bytes : (std::max)(default_bytes, static_cast<std::size_t>(bytes) * 2)) / of.width;
}

void construct(array* place, const nb::object& dtype, std::optional<Py_ssize_t> max_elements, const nb::object& path,
               const std::string& mode) {
    array made(kind_of(dtype));
    if (max_elements && *max_elements < 0) throw nb::value_error("max_elements is negative");
    const std::size_t bytes = max_elements ? bytes_of(made, static_cast<std::size_t>(*max_elements)) : default_bytes;
    if (path.is_none()) {
        made.held = std::make_shared<memory_storage>(bytes, max_elements.has_value());
    } else {
        if (mode != "x" && mode != "a" && mode != "r") throw nb::value_error("mode is 'x', 'a' or 'r'");
        PyObject* encoded = nullptr;
        if (PyUnicode_FSConverter(path.ptr(), &encoded) == 0) throw nb::python_error();
        const nb::object name = nb::steal(encoded);
        made.path = std::filesystem::absolute(PyBytes_AS_STRING(name.ptr())).string();    // the folder may change
        const std::size_t most = max_elements ? static_cast<std::size_t>(*max_elements) : elements_by_default(made, made.path);
        made.held = open_file(made.kind, made.path, static_cast<file_mode>(mode[0]), most);
    }
    ::new (static_cast<void*>(place)) array(std::move(made));
}

nb::object reduced(array& of) {
    const nb::object module = nb::module_::import_("headroom_arrays");
    if (of.path.empty()) {
        const nb::object bytes = nb::steal(
            PyBytes_FromStringAndSize(reinterpret_cast<const char*>(of.held->data), static_cast<Py_ssize_t>(of.held->used)));
        return nb::make_tuple(module.attr("_copied"), nb::make_tuple(facts(of.kind).name, bytes));
    }
    of.held->publish();
    return nb::make_tuple(module.attr("_opened"), nb::make_tuple(facts(of.kind).name, of.path));
}

nb::object from_bytes(const std::string& dtype, const nb::bytes& elements) {
    array made(kind_of(nb::str(dtype.c_str())));
    if (elements.size() % made.width != 0) throw nb::value_error("bytes of no whole number of elements");
    made.held = std::make_shared<memory_storage>((std::max)(default_bytes, elements.size()), false);
    append_bytes(made, elements.c_str(), elements.size());
    return nb::cast(std::move(made));
}

std::string shown(const array& of) {
    std::string text =
        "headroom_arrays.Array(dtype='" + std::string(facts(of.kind).name) + "', size=" + std::to_string(of.size());
    if (!of.path.empty()) text += ", path='" + of.path + "'";
    return text + ")";
}

}    // namespace

appending appending_of(kind of) noexcept {
    return with_type(of, []<class T>(type_tag<T>) -> appending { return &append_as<T>; });
}

void append_bytes(array& to, const void* from, std::size_t bytes) {
    storage& held = *to.held;
    if (bytes > held.limit - held.used) throw std::length_error("headroom: past max_elements");
    if (held.room - held.used < bytes) held.grow(held.used + bytes);
    if (bytes != 0) std::memcpy(held.data + held.used, from, bytes);
    held.used += bytes;
}

void bind_array(nb::module_& module) {
    nb::class_<array> type(
        module, "Array", nb::type_slots(slots), nb::is_weak_referenceable(),
        "An array that grows at the end and never moves.\n\n"
        "Views of it (memoryview, NumPy, Arrow, DLPack) stay valid while it grows, and when it is gone; each shows\n"
        "the elements that there were when it was made. Memory comes as elements do, in huge pages.\n\n"
        "dtype: 'float64', 'int32', 'bool', 'datetime64[us]', ..., or what numpy.dtype takes for those.\n"
        "max_elements: how many there may ever be; 16 GiB of them unless said.\n"
        "path: a file that holds the elements, outlives the process, and is open to other processes by its name.\n"
        "mode: 'x' makes the file, 'a' opens it for appending, or makes it, 'r' opens it for reading.");
    type.def("__init__", &construct, nb::arg("dtype") = "float64", nb::kw_only(), nb::arg("max_elements") = nb::none(),
             nb::arg("path") = nb::none(), nb::arg("mode") = "x")
        .def("__len__", &array::size)
        .def("__getitem__",
             [](const nb::handle_t<array>& self, const nb::object& key) { return get_item(nb::borrow(self), key); })
        .def("__setitem__", &set_item, nb::arg("index"), nb::arg("value").none())
        .def("__iter__", [](const nb::handle_t<array>& self) { return nb::iter(whole(nb::borrow(self))); })
        .def("__repr__", &shown)
        .def(
            "tolist", [](const nb::handle_t<array>& self) { return whole(nb::borrow(self)).attr("tolist")(); },
            "The elements as a list.")
        .def("reserve", &reserve, nb::arg("count"), "Asks for the memory of this many elements now.")
        .def(
            "shrink_to_fit", [](array& self) { self.held->shrink(); }, "Gives memory that holds no element back to the system.")
        .def(
            "publish", [](array& self) { self.held->publish(); },
            "Other processes that have the file open see the elements so far.")
        .def(
            "commit", [](array& self) { self.held->commit(); },
            "Returns when the elements so far have reached the disk: they survive a power cut. Publishes, too.")
        .def(
            "refresh", [](array& self) { self.held->refresh(); }, "A reader takes over what the writer has published.")
        .def("__reduce__", &reduced, "A file is opened again by its name, for reading; other elements are copied.")
        .def_prop_ro(
            "path",
            [](const array& self) -> std::optional<std::string> {
                if (self.path.empty()) return std::nullopt;
                return self.path;
            },
            "The name of its file, or None.")
        .def_prop_ro(
            "dtype", [](const array& self) { return facts(self.kind).name; }, "The name of the kind of element.")
        .def_prop_ro(
            "itemsize", [](const array& self) { return self.width; }, "Bytes of an element.")
        .def_prop_ro(
            "nbytes", [](const array& self) { return self.held->used; }, "Bytes of all elements.")
        .def_prop_ro(
            "capacity", [](const array& self) { return self.held->room / self.width; },
            "The elements that fit without asking for memory.")
        .def_prop_ro(
            "max_elements", [](const array& self) { return self.held->limit / self.width; },
            "How many elements there may ever be.");
    module.def("_rebuilt", &from_bytes);
    bind_exchange(type, module);
}

}    // namespace headroom_python
