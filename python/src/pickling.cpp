// SPDX-License-Identifier: MIT
// Arrays carried elsewhere: a file by its name, other elements as buffers, which protocol 5 of pickle does not copy.
#include "array.hpp"

#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <vector>

namespace headroom_python {
namespace {

// A part of an array as it is now, as bytes for pickle's out-of-band buffers.
struct piece {
    std::shared_ptr<storage> held;
    std::size_t bytes;
};

int get_piece(PyObject* self, Py_buffer* view, int flags) {
    const piece& of = *nb::inst_ptr<piece>(self);
    return PyBuffer_FillInfo(view, self, of.held->data, static_cast<Py_ssize_t>(of.bytes), 1, flags);
}
PyType_Slot piece_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_piece)}, {0, nullptr}};

nb::object carried(const std::shared_ptr<storage>& from, std::size_t bytes, int protocol) {
    const nb::object made = nb::cast(piece{from, bytes});
    if (protocol < 5) return nb::module_::import_("builtins").attr("bytes")(made);
    return nb::module_::import_("pickle").attr("PickleBuffer")(made);
}

nb::object reduced(const nb::object& self, int protocol) {
    column& of = open_column(self);
    const nb::object package = nb::module_::import_("headroom_arrays");
    const nb::object dtype = of.type.kind == kind::structure ? of.type.dtype : dtype_of(of);
    nb::object most = nb::none();
    if (of.said) most = nb::int_(*of.said);
    const nb::tuple what = nb::make_tuple(dtype, shape_of(of), of.type.nullable, most);
    if (!of.path.empty()) {
        wait_for_turn(of);
        publish(of);
        return nb::make_tuple(package.attr("_opened"), nb::make_tuple(what, path_of(of)));
    }
    view(of);
    nb::list pieces;
    for (const auto& each : {of.held, of.bytes, of.valid}) {
        if (each == nullptr) {
            pieces.append(nb::none());
        } else {
            pieces.append(carried(each, each->used, protocol));
        }
    }
    return nb::make_tuple(package.attr("_copied"), nb::make_tuple(what, pieces));
}

// Fills a new array with the pieces of another. Throws ValueError where they do not fit together.
void fill(const nb::object& self, const nb::list& pieces) {
    column& to = open_column(self);
    const auto wrong = [] { throw nb::value_error("these are not the bytes of an array"); };
    if (pieces.size() != 3 || to.rows() != 0) wrong();
    const buffer_view first(nb::object(pieces[0]).ptr());
    if (!first.held || static_cast<std::size_t>(first.view.len) % to.type.width != 0) wrong();
    std::size_t rows = static_cast<std::size_t>(first.view.len) / to.type.width;
    if (to.is_text()) {
        const buffer_view text(nb::object(pieces[1]).ptr());
        if (!text.held || rows == 0) wrong();
        --rows;
        std::vector<std::int64_t> offsets(rows + 1);    // a copy, since those that came out of band may lie anywhere
        std::memcpy(offsets.data(), first.view.buf, offsets.size() * 8);
        bool runs = offsets[0] == 0 && offsets[rows] <= text.view.len;
        for (std::size_t i = 0; runs && i < rows; ++i) runs = offsets[i] <= offsets[i + 1];
        if (!runs) wrong();
        append_text(to, offsets.data(), rows, static_cast<const char*>(text.view.buf));
    } else {
        append_elements(to, first.view.buf, rows);
    }
    if (to.valid == nullptr) return;
    const buffer_view bits(nb::object(pieces[2]).ptr());
    if (!bits.held || static_cast<std::size_t>(bits.view.len) < bytes_of_bits(rows)) wrong();
    if (rows != 0) std::memcpy(to.valid->data, bits.view.buf, bytes_of_bits(rows));
}

}    // namespace

nb::object path_of(const column& of) {
    if (of.path.empty()) return nb::none();
    return nb::steal(PyUnicode_DecodeFSDefaultAndSize(of.path.data(), static_cast<Py_ssize_t>(of.path.size())));
}

nb::object dtype_of(const column& of) {
    if (of.type.kind == kind::structure) return nb::str(of.type.dtype);
    return nb::str(facts(of.type.kind).name);
}

nb::object shape_of(const column& of) {
    nb::list made;
    for (const Py_ssize_t extent : of.type.shape) made.append(extent);
    return nb::tuple(made);
}

void bind_pickling(nb::class_<array>& type, nb::module_& module) {
    using self_t = nb::handle_t<array>;
    nb::class_<piece>(module, "_Piece", nb::type_slots(piece_slots));
    type.def(
            "__reduce_ex__", [](const self_t& self, int protocol) { return reduced(nb::borrow(self), protocol); },
            "A file is opened again by its name, for reading; other elements are carried as buffers.")
        .def("_fill", [](const self_t& self, const nb::list& pieces) { fill(nb::borrow(self), pieces); });
}

}    // namespace headroom_python
