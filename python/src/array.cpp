// SPDX-License-Identifier: MIT
// headroom_arrays.Array: what Python sees of a column, but for what it hands to other libraries (exchange.cpp). The two calls that
// programs make most, append and extend, are plain methods of the C API: the interpreter calls those in a third of the time of a
// call that is dispatched by its arguments' types.
#include "array.hpp"
#include "arguments.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace headroom_python {
namespace {

// The column of a Python object; null, with an error set, where __init__ has not been called.
column* found_column(PyObject* self) noexcept {
    if (!nb::inst_ready(self)) {
        PyErr_SetString(PyExc_TypeError, "Array.__init__ was not called");
        return nullptr;
    }
    return nb::inst_ptr<array>(self)->held.get();
}

PyObject* array_append(PyObject* self, PyObject* value) {
    column* const to = found_column(self);
    if (to == nullptr || !to->append(*to, value)) return nullptr;
    Py_RETURN_NONE;
}

PyObject* array_extend(PyObject* self, PyObject* values) {
    column* const to = found_column(self);
    if (to == nullptr || !extend(*to, values)) return nullptr;
    Py_RETURN_NONE;
}

// --- The buffer protocol. A view's length is fixed when it is made; the view stays valid while the array grows.

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    view->obj = nullptr;
    column* const of = found_column(self);
    if (of == nullptr || !expect_open(*of)) return -1;
    const element_type& type = of->type;
    // A structure without a format is exported as bytes: NumPy asks for those, and knows its own dtype.
    if (type.format.empty() && (type.kind != kind::structure || (flags & PyBUF_FORMAT) == PyBUF_FORMAT)) {
        PyErr_Format(PyExc_BufferError, "the buffer protocol has no format for %s: use numpy.asarray(array)",
                     facts(type.kind).name);
        return -1;
    }
    if (of->valid != nullptr) {
        PyErr_SetString(PyExc_BufferError, "the buffer protocol has no nulls: use numpy.asarray(array), or Arrow");
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !expect_writable(*of)) return -1;
    return guarded(-1, [&] {
        headroom_python::view(*of);
        const std::size_t dimensions = type.shape.size() + 1;
        auto extents = std::make_unique<Py_ssize_t[]>(2 * dimensions);    // the shape, and then the strides
        extents[0] = static_cast<Py_ssize_t>(of->rows());
        extents[dimensions] = static_cast<Py_ssize_t>(type.width);
        for (std::size_t i = 1; i < dimensions; ++i) {
            extents[i] = type.shape[i - 1];
            extents[dimensions + i] = type.shape[i - 1] == 0 ? 0 : extents[dimensions + i - 1] / type.shape[i - 1];
        }
        view->buf = of->held->data;
        view->len = static_cast<Py_ssize_t>(of->held->used);
        view->itemsize = static_cast<Py_ssize_t>(type.item);
        view->readonly = of->held->writable ? 0 : 1;
        view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(type.format.c_str()) : nullptr;
        view->ndim = static_cast<int>(dimensions);
        view->shape = (flags & PyBUF_ND) == PyBUF_ND ? extents.get() : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? extents.get() + dimensions : nullptr;
        view->suboffsets = nullptr;
        view->internal = extents.release();
        Py_INCREF(self);
        view->obj = self;
        return 0;
    });
}

void release_buffer(PyObject*, Py_buffer* view) { delete[] static_cast<Py_ssize_t*>(view->internal); }

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

// --- Reading.

std::size_t index_of(const column& of, Py_ssize_t index) {
    const auto size = static_cast<Py_ssize_t>(of.rows());
    if (index < -size || index >= size) throw nb::index_error("array index out of range");
    return static_cast<std::size_t>(index < 0 ? index + size : index);
}

Py_ssize_t index_from(const nb::object& key) {
    const Py_ssize_t index = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
    if (index == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return index;
}

// What elements are lists of: NumPy's own objects.
bool needs_numpy(const column& of) { return is_time(of.type.kind) || !of.type.shape.empty() || of.type.kind == kind::structure; }
// What memoryview can show: numbers that are all there.
bool has_memoryview(const column& of) {
    return !of.type.format.empty() && of.valid == nullptr && !is_complex(of.type.kind) && of.type.kind != kind::structure;
}

nb::object as_numpy(const nb::object& self) { return numpy().attr("asarray")(self); }

struct range_of_rows {
    Py_ssize_t start = 0, stop = 0, step = 1, count = 0;
};
range_of_rows rows_of(const column& of, const nb::object& key) {
    range_of_rows made;
    if (PySlice_Unpack(key.ptr(), &made.start, &made.stop, &made.step) < 0) throw nb::python_error();
    made.count = PySlice_AdjustIndices(static_cast<Py_ssize_t>(of.rows()), &made.start, &made.stop, made.step);
    return made;
}

nb::object list_of(const column& of, const range_of_rows& rows) {
    nb::list made;
    for (Py_ssize_t i = 0; i < rows.count; ++i) made.append(element(of, static_cast<std::size_t>(rows.start + i * rows.step)));
    return made;
}

nb::object to_list(const nb::object& self) {
    const column& of = open_column(self);
    if (needs_numpy(of)) return as_numpy(self).attr("tolist")();
    return list_of(of, {0, 0, 1, static_cast<Py_ssize_t>(of.rows())});
}

nb::object iterator(const nb::object& self) {
    const column& of = open_column(self);
    if (needs_numpy(of)) return nb::iter(as_numpy(self));
    // Small arrays, and those that no view can show, are copied to a list: then no view pins their memory.
    const bool listed = of.held->used <= (std::size_t{64} << 10) || of.type.kind == kind::float16 || !has_memoryview(of);
    return nb::iter(listed ? to_list(self) : nb::steal(PyMemoryView_FromObject(self.ptr())));
}

nb::object get_item(const nb::object& self, const nb::object& key) {
    const column& of = open_column(self);
    if (PyIndex_Check(key.ptr())) {
        const std::size_t row = index_of(of, index_from(key));
        if (!of.type.shape.empty() || of.type.kind == kind::structure) return as_numpy(self)[row];
        return element(of, row);
    }
    if (!PySlice_Check(key.ptr())) throw nb::type_error("array indices must be integers or slices");
    if (of.is_text() || of.valid != nullptr) return list_of(of, rows_of(of, key));
    if (has_memoryview(of) && of.type.shape.empty()) return nb::steal(PyMemoryView_FromObject(self.ptr()))[key];
    return as_numpy(self)[key];
}

void set_item(const nb::object& self, const nb::object& key, const nb::object& value) {
    column& of = open_column(self);
    if (of.is_text()) throw nb::type_error("elements of 'str' cannot be changed, only appended");
    if (PyIndex_Check(key.ptr())) {
        staged made;
        stage(of, value.ptr(), made);
        need_writable(of);
        replace(of, index_of(of, index_from(key)), made);
        return;
    }
    if (!PySlice_Check(key.ptr())) throw nb::type_error("array indices must be integers or slices");
    // Several values, or one for all.
    const bool several = PyUnicode_Check(value.ptr()) == 0 && !value.is_none() &&
                         (PySequence_Check(value.ptr()) != 0 || PyObject_HasAttrString(value.ptr(), "__arrow_c_array__") != 0 ||
                          PyIter_Check(value.ptr()) != 0) &&
                         !(PyObject_HasAttrString(value.ptr(), "shape") != 0 && nb::len_hint(value.attr("shape")) == 0);
    const std::shared_ptr<column> given = make_like(of);
    if (!several) {
        if (!given->append(*given, value.ptr())) throw nb::python_error();
    } else if (!extend(*given, value.ptr())) {
        throw nb::python_error();
    }
    need_writable(of);
    const range_of_rows rows = rows_of(of, key);    // once nothing of the user's runs any more
    if (several && given->rows() != static_cast<std::size_t>(rows.count)) {
        const std::string words =
            "a slice of " + std::to_string(rows.count) + " elements takes no " + std::to_string(given->rows());
        throw nb::value_error(words.c_str());
    }
    const std::size_t width = of.type.width;
    for (Py_ssize_t i = 0; i < rows.count; ++i) {
        const auto to = static_cast<std::size_t>(rows.start + i * rows.step);
        const std::size_t from = several ? static_cast<std::size_t>(i) : 0;
        std::memcpy(of.held->data + to * width, given->held->data + from * width, width);
        if (of.valid != nullptr) set_present(of, to, 1, given->present(from));
    }
}

// --- Making, closing, pickling.

std::vector<Py_ssize_t> shape_from(const nb::object& shape) {
    std::vector<Py_ssize_t> made;
    const bool several = PyTuple_Check(shape.ptr()) != 0 || PyList_Check(shape.ptr()) != 0;
    const nb::tuple all = several ? nb::tuple(shape) : nb::make_tuple(shape);
    for (const nb::handle each : all) {
        made.push_back(static_cast<Py_ssize_t>(count_argument(each, "shape")));
        if (made.back() < 1) throw nb::value_error("shape: extents are 1 or more");
    }
    return made;
}

void construct(array* place, const nb::object& dtype, const nb::object& shape, bool nullable, const nb::object& max_elements,
               const nb::object& path, const nb::object& how) {
    nb::object what = dtype;
    nb::object extents = shape;
    nb::object values = nb::none();
    if (!PyUnicode_Check(dtype.ptr()) && !PyType_Check(dtype.ptr())) {    // values perhaps, which say themselves what they are
        const nb::object all = nb::module_::import_("headroom_arrays._values").attr("described")(dtype);
        if (!all.is_none()) {
            what = all[0];
            if (nb::len_hint(shape) == 0) extents = all[1];
            nullable = nullable || nb::cast<bool>(all[2]);
            values = all[3];
        }
    }
    element_type type = type_of(what);
    type.shape = shape_from(extents);
    if (!type.shape.empty()) {
        if (type.kind == kind::text) throw nb::type_error("elements of 'str' have no shape");
        if (is_time(type.kind)) type.nullable = false;
        if (nullable) throw nb::type_error("an element that has a shape is never null");
        for (const Py_ssize_t extent : type.shape) {
            if (type.width > PTRDIFF_MAX / static_cast<std::size_t>(extent)) throw nb::value_error("no element is that large");
            type.width *= static_cast<std::size_t>(extent);
        }
    }
    if (nullable && (type.kind == kind::structure || is_complex(type.kind))) {
        throw nb::type_error("structures and complex numbers are never null");
    }
    type.nullable = nullable;
    const std::optional<std::size_t> most = optional_count_argument(max_elements, "max_elements");
    const std::string mode = text_argument(how, "mode");
    if (mode != "x" && mode != "a" && mode != "r") throw nb::value_error("mode is 'x', 'a' or 'r'");
    const std::string name = path_argument(path, "path");
    array made{make_column(std::move(type), most, name, static_cast<file_mode>(mode[0]))};
    if (!values.is_none() && !extend(*made.held, values.ptr())) throw nb::python_error();
    ::new (static_cast<void*>(place)) array(std::move(made));
}

void close_array(const nb::object& self) {
    column& of = column_of(self);
    const std::shared_ptr<column> kept = nb::inst_ptr<array>(self)->held;
    wait_for_turn(of);
    close(of);
}

std::string shown(const nb::object& self) {
    const column& of = column_of(self);
    std::string text = "headroom_arrays.Array(dtype='" + nb::cast<std::string>(dtype_of(of)) + "'";
    if (!of.type.shape.empty()) text += ", shape=" + shown_shape(of.type.shape);
    if (of.type.nullable) text += ", nullable=True";
    text += of.closed ? ", closed" : ", size=" + std::to_string(of.rows());
    if (!of.path.empty()) text += ", path=" + nb::cast<std::string>(nb::repr(path_of(of)));
    return text + ")";
}

std::size_t max_elements_of(const column& of) {
    if (of.said) return *of.said;
    if (!of.path.empty()) return of.held->limit / of.type.width;
    return (std::max)(bytes_by_default(), of.held->room) / of.type.width;
}

}    // namespace

column& column_of(nb::handle self) {
    column* const of = found_column(self.ptr());
    if (of == nullptr) throw nb::python_error();
    return *of;
}

column& open_column(nb::handle self) {
    column& of = column_of(self);
    need_open(of);
    return of;
}

void bind_array(nb::module_& module) {
    using self_t = nb::handle_t<array>;
    const auto owned = [](const self_t& self) { return nb::borrow(self); };
    nb::class_<array> type(
        module, "Array", nb::type_slots(slots), nb::is_weak_referenceable(),
        "An array that grows at the end, and whose views stay valid.\n\n"
        "Views of it (memoryview, NumPy, Arrow, DLPack) show the elements that there were when each was made; they stay valid\n"
        "while the array grows, when it is closed, and when it is gone. Memory comes as elements do.\n\n"
        "dtype: 'float64', 'int32', 'bool', 'datetime64[us]', 'str', ..., or what numpy.dtype takes for those; or values.\n"
        "shape: what each element is an array of: Array('float32', shape=(768,)) grows by rows.\n"
        "nullable: append(None) and nulls of Arrow are taken.\n"
        "max_elements: how many there may ever be; the room for them is then set aside at once.\n"
        "path: a file that holds the elements, outlives the process, and is open to other processes by its name.\n"
        "mode: 'x' makes the file, 'a' opens it for appending, or makes it, 'r' opens it for reading.");
    type.def("__init__", &construct, nb::arg("dtype").none() = "float64", nb::kw_only(), nb::arg("shape").none() = nb::tuple(),
             nb::arg("nullable") = false, nb::arg("max_elements").none() = nb::none(), nb::arg("path").none() = nb::none(),
             nb::arg("mode").none() = "x")
        .def("__len__", [](const self_t& self) { return open_column(self).rows(); })
        .def("__getitem__", [=](const self_t& self, const nb::object& key) { return get_item(owned(self), key); })
        .def(
            "__setitem__",
            [=](const self_t& self, const nb::object& key, const nb::object& value) { set_item(owned(self), key, value); },
            nb::arg("key"), nb::arg("value").none())
        .def("__iter__", [=](const self_t& self) { return iterator(owned(self)); })
        .def("__repr__", [=](const self_t& self) { return shown(owned(self)); })
        .def("__enter__",
             [=](const self_t& self) {
                 static_cast<void>(open_column(self));
                 return owned(self);
             })
        .def("__exit__", [=](const self_t& self, const nb::args&) { close_array(owned(self)); })
        .def("__sizeof__",
             [](const self_t& self) {
                 const column& of = column_of(self);
                 std::size_t bytes = sizeof(array) + sizeof(column) + 16;    // and the object's own head
                 of.each_piece([&](const storage& piece) { bytes += piece.resident(); });
                 return bytes;
             })
        .def(
            "tolist", [=](const self_t& self) { return to_list(owned(self)); }, "The elements as a list.")
        .def(
            "reserve",
            [](const self_t& self, const nb::object& count) {
                column& of = open_column(self);
                const std::size_t rows = count_argument(count, "count");
                wait_for_turn(of);
                reserve(of, rows);
            },
            nb::arg("count").none(), "Asks for the memory of this many elements now.")
        .def(
            "truncate",
            [](const self_t& self, const nb::object& count) {
                column& of = open_column(self);
                need_writable(of);
                const std::size_t rows = count_argument(count, "count");
                wait_for_turn(of);
                if (rows > of.rows()) throw nb::value_error("there are fewer elements than that");
                if (of.bytes != nullptr || of.valid != nullptr) {
                    cut(of, rows);    // a crash must not find fewer text or bits than elements
                } else {
                    truncate(of, rows);
                }
            },
            nb::arg("count").none(),
            "Keeps the first elements only. Views of the others stay valid, and show what is appended in their place.")
        .def(
            "shrink_to_fit",
            [](const self_t& self) {
                column& of = open_column(self);
                wait_for_turn(of);
                of.each_piece([](storage& piece) { piece.shrink(); });
            },
            "Gives memory that holds no element back to the system.")
        .def(
            "publish",
            [](const self_t& self) {
                column& of = open_column(self);
                wait_for_turn(of);
                publish(of);
            },
            "Other processes that have the file open see the elements so far.")
        .def(
            "commit",
            [](const self_t& self) {
                column& of = open_column(self);
                const std::shared_ptr<column> kept = nb::inst_ptr<array>(self)->held;
                wait_for_turn(of);
                commit(of);
            },
            "Returns when the elements so far have reached the disk: they survive a power cut. Publishes, too.")
        .def(
            "refresh",
            [](const self_t& self) {
                column& of = open_column(self);
                wait_for_turn(of);
                refresh(of);
            },
            "A reader takes over what the writer has published.")
        .def(
            "close", [=](const self_t& self) { close_array(owned(self)); },
            "Ends the array: a file is committed and can be written to by others. Views stay valid. Closing again does nothing.")
        .def_prop_ro(
            "closed", [](const self_t& self) { return column_of(self).closed; }, "Whether it is closed.")
        .def_prop_ro(
            "path", [](const self_t& self) { return path_of(column_of(self)); }, "The name of its file, or None.")
        .def_prop_ro(
            "dtype", [](const self_t& self) { return dtype_of(column_of(self)); }, "The name of the kind of element.")
        .def_prop_ro(
            "shape",
            [](const self_t& self) {
                const column& of = open_column(self);
                return nb::make_tuple(of.rows()) + shape_of(of);
            },
            "How many elements there are, and the shape of each.")
        .def_prop_ro(
            "nullable", [](const self_t& self) { return column_of(self).type.nullable; }, "Whether elements may be None.")
        .def_prop_ro(
            "null_count", [](const self_t& self) { return nulls_in(open_column(self), open_column(self).rows()); },
            "How many elements are null.")
        .def_prop_ro(
            "itemsize", [](const self_t& self) { return column_of(self).type.item; }, "Bytes of a number of an element.")
        .def_prop_ro(
            "nbytes",
            [](const self_t& self) {
                const column& of = open_column(self);
                std::size_t bytes = 0;
                of.each_piece([&](const storage& piece) { bytes += piece.used; });
                return of.is_text() && bytes >= 8 ? bytes - 8 : bytes;    // (the first offset is no element's)
            },
            "Bytes of all elements.")
        .def_prop_ro(
            "capacity", [](const self_t& self) { return open_column(self).held->room / column_of(self).type.width; },
            "The elements that fit without asking for memory.")
        .def_prop_ro(
            "max_elements", [](const self_t& self) { return max_elements_of(open_column(self)); },
            "How many elements there may ever be; without a limit, how many there is room for at least.");
    module.def("_begin_new_life", &begin_new_life);
    bind_exchange(type);
    bind_pickling(type, module);
}

}    // namespace headroom_python
