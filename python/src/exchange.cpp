// SPDX-License-Identifier: MIT
// Export to other libraries: NumPy's array interface, Arrow's capsules, DLPack's. All of them share the storage, and none
// holds a reference to a Python object: so it is released without Python's lock, and after Python has ended.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "exchange.hpp"

namespace headroom_python {
namespace {

// Shares the first of them.
template <class T>
headroom::frozen<T> shared(const std::shared_ptr<storage>& from, std::size_t count) {
    const std::span<const T> elements(reinterpret_cast<const T*>(from->data), count);
    return headroom::frozen<T>(elements, std::shared_ptr<storage>(from));
}

// Which of `count` times are there, as bits; none where all are.
std::optional<headroom::bit_column> times_there(const column& of, std::size_t count) {
    if (!is_time(of.type.kind)) return std::nullopt;
    const std::span<const std::int64_t> times(reinterpret_cast<const std::int64_t*>(of.held->data), count);
    if (std::find(times.begin(), times.end(), not_a_time) == times.end()) return std::nullopt;
    headroom::bit_column bits;
    for (const std::int64_t each : times) bits.push_back(each != not_a_time);
    return bits;
}

headroom::arrow_column values_of(const column& of, std::size_t rows, std::string_view name) {
    if (of.is_text()) {
        // A file to which nothing was committed lacks even the first offset of text.
        static constexpr std::int64_t none = 0;
        auto offsets = of.held->used != 0 ? shared<std::int64_t>(of.held, rows + 1)
                                          : headroom::frozen<std::int64_t>({&none, 1}, std::shared_ptr<storage>(of.held));
        return headroom::arrow_column::text(name, std::move(offsets), shared<char>(of.bytes, of.bytes->used));
    }
    return with_type(of.type.kind, [&]<class T>(type_tag<T>) -> headroom::arrow_column {
        const std::size_t numbers = rows * (of.type.width / of.type.item);
        if constexpr (std::is_same_v<T, bool>) {    // a byte each here, a bit each there
            headroom::bit_column bits;
            const auto* const each = reinterpret_cast<const unsigned char*>(of.held->data);
            for (std::size_t i = 0; i < numbers; ++i) bits.push_back(each[i] != 0);
            return headroom::arrow_column(name, std::move(bits));
        } else if constexpr (headroom::arrow_value<T> && !std::is_same_v<T, std::byte>) {
            return headroom::arrow_column(name, shared<T>(of.held, numbers));
        } else {
            throw nb::type_error((std::string("Arrow has no type for ") + facts(of.type.kind).name).c_str());
        }
    });
}

}    // namespace

headroom::arrow_column arrow_column_of(column& of, std::size_t rows, std::string_view name) {
    view(of);
    headroom::arrow_column made = values_of(of, rows, of.type.shape.empty() ? name : "item");
    if (of.valid != nullptr) {
        made = std::move(made).nullable(shared<std::uint8_t>(of.valid, bytes_of_bits(rows)));
    } else if (std::optional<headroom::bit_column> there = times_there(of, rows * (of.type.width / of.type.item))) {
        made = std::move(made).nullable(std::move(*there));
    }
    for (std::size_t i = of.type.shape.size(); i-- > 0;) {
        made = headroom::arrow_column::fixed_list(i == 0 ? name : "item", static_cast<std::size_t>(of.type.shape[i]),
                                                  std::move(made));
    }
    return made;
}

namespace {

nb::object arrow_schema(const nb::handle_t<array>& self) {
    const std::shared_ptr<column> none = make_like(open_column(self));
    ArrowArray unused{};
    auto schema = std::make_unique<ArrowSchema>();
    headroom::export_arrow(arrow_column_of(*none, 0, ""), &unused, schema.get());
    unused.release(&unused);
    return capsule(std::move(schema), "arrow_schema");
}

nb::object arrow_array(const nb::handle_t<array>& self, const nb::object&) {
    column& of = open_column(self);
    auto made = std::make_unique<ArrowArray>();
    auto schema = std::make_unique<ArrowSchema>();
    headroom::export_arrow(arrow_column_of(of, of.rows(), ""), made.get(), schema.get());
    const nb::object type = capsule(std::move(schema), "arrow_schema");
    return nb::make_tuple(type, capsule(std::move(made), "arrow_array"));
}

nb::object array_interface(const nb::handle_t<array>& self) {
    column& of = open_column(self);
    const char* const refusal = of.is_text() ? "text has no array interface: it is a list for NumPy"
                                : of.type.kind == kind::structure && of.type.format.empty()
                                    ? "this structure has no array interface, which knows no padding: NumPy asks for __array__"
                                : of.valid != nullptr && !is_float(of.type.kind) && nulls_in(of, of.rows()) != 0
                                    ? "nulls have no array interface: NumPy asks for __array__"
                                    : nullptr;
    if (refusal != nullptr) throw nb::attribute_error(refusal);
    view(of);
    nb::dict made;
    made["version"] = 3;
    if (of.type.kind == kind::structure) {
        made["typestr"] = of.type.dtype.attr("str");
        made["descr"] = of.type.dtype.attr("descr");
    } else {
        made["typestr"] = std::string(of.type.item == 1 ? "|" : PY_LITTLE_ENDIAN ? "<" : ">") + facts(of.type.kind).typestr;
    }
    nb::list shape;
    shape.append(of.rows());
    for (const Py_ssize_t extent : of.type.shape) shape.append(extent);
    made["shape"] = nb::tuple(shape);
    made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(of.held->data), !of.held->writable);
    made["strides"] = nb::none();
    return made;
}

template <class Managed>
nb::object tensor_capsule(Managed* tensor, const char* name) {
    PyObject* const object = PyCapsule_New(tensor, name, [](PyObject* self) {
        const char* const now = PyCapsule_GetName(self);
        if (std::string_view(now).substr(0, 5) == "used_") return;
        auto* const held = static_cast<Managed*>(PyCapsule_GetPointer(self, now));
        held->deleter(held);
    });
    if (object == nullptr) {
        tensor->deleter(tensor);
        throw nb::python_error();
    }
    return nb::steal(object);
}

nb::object dlpack(const nb::handle_t<array>& self, const nb::object& stream,
                  const std::optional<std::pair<int, int>>& max_version, const std::optional<std::pair<int, int>>& dl_device,
                  std::optional<bool> copy) {
    column& of = open_column(self);
    if (!stream.is_none()) throw nb::value_error("memory of the CPU has no stream: pass stream=None");
    if (dl_device && *dl_device != std::pair(static_cast<int>(kDLCPU), 0)) throw nb::buffer_error("the memory is the CPU's");
    if (is_time(of.type.kind) || of.is_text() || of.type.kind == kind::structure) {
        throw nb::buffer_error((std::string("DLPack has no type for ") + facts(of.type.kind).name).c_str());
    }
    if (of.valid != nullptr) throw nb::buffer_error("DLPack has no nulls");
    std::shared_ptr<column> copied;
    if (copy.value_or(false)) {
        copied = make_like(of);
        wait_for_turn(of);
        need_open(of);
        append_columns({copied}, {of.shared_from_this()});
    }
    column& from = copied != nullptr ? *copied : of;
    const bool versioned = max_version && max_version->first >= 1;
    if (!versioned && !from.held->writable) {
        throw nb::buffer_error(
            "the array is read-only, which DLPack before 1.0 cannot say: ask for max_version=(1, 0), or copy=True");
    }
    view(from);
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(from.rows())};
    for (const Py_ssize_t extent : from.type.shape) shape.push_back(extent);
    const std::size_t numbers = from.rows() * (from.type.width / from.type.item);
    return with_type(from.type.kind, [&]<class T>(type_tag<T>) -> nb::object {
        if constexpr (headroom::dlpack_value<T>) {
            auto values = shared<T>(from.held, numbers);
            if (!versioned) return tensor_capsule(headroom::to_unversioned_dlpack(std::move(values), shape), "dltensor");
            DLManagedTensorVersioned* const tensor = headroom::to_dlpack(std::move(values), shape, !from.held->writable);
            if (copied != nullptr) tensor->flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
            return tensor_capsule(tensor, "dltensor_versioned");
        } else {
            return nb::none();    // refused above
        }
    });
}

}    // namespace

namespace {

// Another consumer may have emptied a capsule; a released struct has no other member that may be read.
template <class... Structs>
void expect_unreleased(const Structs*... given) {
    if (((given->release == nullptr) || ...))
        throw std::invalid_argument("what the capsule held has been taken, or released, already");
}

bool same_number(const column& to, std::string_view format) {
    return with_type(to.type.kind, [&]<class T>(type_tag<T>) {
        if constexpr (std::is_same_v<T, bool>) {
            return format == "b";
        } else if constexpr (headroom::arrow_value<T> && !std::is_same_v<T, std::byte>) {
            const std::string_view wanted = headroom::detail::arrow_format_of<T>::get();
            // Instants may have a time zone behind that; import_arrow() decides if it fits.
            return format == wanted || (is_time(to.type.kind) && format.substr(0, 3) == wanted.substr(0, 3));
        } else {
            return false;
        }
    });
}

bool same_type(const column& to, const ArrowSchema& given) {
    if (given.format == nullptr) throw std::invalid_argument("the Arrow schema names no type");
    const std::string_view format = given.format;
    if (to.is_text()) return format == "u" || format == "U";
    if (to.type.shape.empty()) return same_number(to, format);
    return to.type.shape.size() == 1 && format == "+w:" + std::to_string(to.type.shape[0]) && given.n_children == 1 &&
           given.children != nullptr && given.children[0]->format != nullptr && same_number(to, given.children[0]->format);
}

// Throws TypeError where an Arrow type is not that of the array's elements.
void expect_type(const column& to, const ArrowSchema& given) {
    if (same_type(to, given)) return;
    std::string words =
        "an Array of " + std::string(facts(to.type.kind).name) + " takes no Arrow array of type \"" + given.format + "\"";
    words += given.format[0] == '+'
                 ? ": it takes numbers, bool, times and text; of a table, batch or struct pass the columns one by one, "
                   "of a list its values"
                 : ": cast it first, or make an Array of its dtype";
    throw nb::type_error(words.c_str());
}

void expect_nulls_taken(const column& to, std::size_t count) {
    if (count == 0 || to.type.nullable || is_time(to.type.kind)) return;
    const std::string words = std::to_string(count) + " elements are null: an Array with nullable=True takes them";
    throw nb::value_error(words.c_str());
}

void append_imported_text(column& to, const headroom::imported<std::string_view>& values) {
    std::vector<std::int64_t> offsets{0};
    std::string bytes;
    offsets.reserve(values.size() + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values.is_valid(i)) bytes += values[i];
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    append_text(to, offsets.data(), values.size(), bytes.data());
}

// `count` numbers from `first` on, which lie as ours do, or are bits.
template <class T>
void append_imported(column& to, const headroom::imported<T>& values, std::size_t first, std::size_t count) {
    if constexpr (std::is_same_v<T, bool>) {
        std::vector<unsigned char> bytes(count);
        for (std::size_t i = 0; i < count; ++i) bytes[i] = values[first + i] ? 1 : 0;
        append_elements(to, bytes.data(), count * to.type.item / to.type.width);
    } else {
        append_elements(to, values.data() + first, count * to.type.item / to.type.width);
    }
}

// Marks those that are not there.
template <class Imported>
void mark_nulls(column& to, std::size_t before, const Imported& values) {
    if (values.null_count() == 0) return;
    staged none;
    stage(to, Py_None, none);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values.is_valid(i)) continue;
        if (to.is_text()) {
            set_present(to, before + i, 1, false);
        } else {
            replace(to, before + i, none);
        }
    }
}

// Lists of the length that the column's elements have.
template <class T>
void append_lists(column& to, ArrowArray* given, ArrowSchema* schema) {
    const auto length = static_cast<std::size_t>(to.type.shape[0]);
    if (given->n_children != 1 || given->children == nullptr || given->length < 0 || given->offset < 0) {
        throw std::invalid_argument("the Arrow array is no array of lists");
    }
    const auto rows = static_cast<std::size_t>(given->length);
    const auto first = static_cast<std::size_t>(given->offset);
    if (given->null_count != 0 && given->n_buffers > 0 && given->buffers[0] != nullptr) {
        const auto* const bits = static_cast<const std::uint8_t*>(given->buffers[0]);
        if (headroom::detail::count_zero_bits(bits, first, rows) != 0)
            throw std::invalid_argument("an element is never null here");
    }
    const auto values = headroom::import_arrow<T>(given->children[0], schema->children[0],
                                                  is_time(to.type.kind) ? headroom::nulls::allowed : headroom::nulls::refused);
    if (rows > values.size() / length || first > values.size() / length - rows) {
        throw std::invalid_argument("the lists reach beyond their values");
    }
    const std::size_t before = to.held->used;
    append_imported(to, values, first * length, rows * length);
    for (std::size_t i = 0; values.null_count() != 0 && i < rows * length; ++i) {
        if (!values.is_valid(first * length + i)) std::memcpy(to.held->data + before + i * 8, &not_a_time, 8);
    }
}

void append_arrow(column& to, ArrowArray* given, ArrowSchema* schema) {
    expect_unreleased(given, schema);
    expect_type(to, *schema);
    need_writable(to);
    wait_for_turn(to);
    const std::size_t before = to.rows();
    if (to.is_text()) {
        const auto values = headroom::import_arrow<std::string_view>(given, schema, headroom::nulls::allowed);
        expect_nulls_taken(to, values.null_count());
        append_imported_text(to, values);
        mark_nulls(to, before, values);
        return;
    }
    with_type(to.type.kind, [&]<class T>(type_tag<T>) {
        if constexpr ((headroom::arrow_value<T> && !std::is_same_v<T, std::byte>) || std::is_same_v<T, bool>) {
            if (!to.type.shape.empty()) {
                append_lists<T>(to, given, schema);
                return;
            }
            const auto values = headroom::import_arrow<T>(given, schema, headroom::nulls::allowed);
            expect_nulls_taken(to, values.null_count());
            append_imported(to, values, 0, values.size());
            mark_nulls(to, before, values);
        }
    });
}

// Owns a struct that a stream filled in; releases it on every path.
template <class Struct>
struct given_once {
    Struct it{};
    given_once() = default;
    given_once(const given_once&) = delete;
    given_once& operator=(const given_once&) = delete;
    ~given_once() {
        if (it.release != nullptr) it.release(&it);
    }
};

// Appends a stream's chunks. Chunks before one that throws stay appended. False, with nothing appended, if the elements have
// another type: the caller then converts them one by one.
bool append_stream(column& to, ArrowArrayStream* stream) {
    const auto expect = [stream](int error) {
        if (error == 0) return;
        const char* const why = stream->get_last_error(stream);
        throw std::runtime_error(std::string("Arrow's stream fails: ") + (why != nullptr ? why : "it does not say why"));
    };
    expect_unreleased(stream);
    for (;;) {
        given_once<ArrowSchema> schema;
        given_once<ArrowArray> chunk;
        expect(stream->get_schema(stream, &schema.it));
        expect_unreleased(&schema.it);
        if (!same_type(to, schema.it) && schema.it.format[0] != '+') return false;
        expect_type(to, schema.it);
        expect(stream->get_next(stream, &chunk.it));
        if (chunk.it.release == nullptr) return true;
        append_arrow(to, &chunk.it, &schema.it);
    }
}

}    // namespace

bool extend_from_arrow(column& to, nb::handle from) {
    if (PyObject_HasAttrString(from.ptr(), "__arrow_c_array__") != 0) {
        const nb::object capsules = from.attr("__arrow_c_array__")();
        const nb::object type = capsules[0], elements = capsules[1];    // kept: they own the structs
        auto* const schema = static_cast<ArrowSchema*>(PyCapsule_GetPointer(type.ptr(), "arrow_schema"));
        if (schema == nullptr) throw nb::python_error();
        auto* const given = static_cast<ArrowArray*>(PyCapsule_GetPointer(elements.ptr(), "arrow_array"));
        if (given == nullptr) throw nb::python_error();
        append_arrow(to, given, schema);
        return true;
    }
    if (PyObject_HasAttrString(from.ptr(), "__arrow_c_stream__") == 0) return false;
    nb::object capsule;
    try {
        capsule = from.attr("__arrow_c_stream__")();
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ImportError)) throw;
        return false;    // it needs a library that is not installed: the caller converts its elements
    }
    auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (stream == nullptr) throw nb::python_error();
    return append_stream(to, stream);    // the capsule releases it
}

void bind_exchange(nb::class_<array>& type) {
    type.def_prop_ro("__array_interface__", &array_interface, "For numpy.asarray(array), which copies nothing.")
        .def(
            "__array__",
            [](const nb::handle_t<array>& self, const nb::object& dtype, const nb::object& copy) {
                const column& of = open_column(self);
                const nb::object structure = of.type.kind == kind::structure ? of.type.dtype : nb::object(nb::none());
                return nb::module_::import_("headroom_arrays._values").attr("as_numpy")(nb::borrow(self), structure, dtype, copy);
            },
            nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
            "For NumPy and pandas: the memory itself; text and nulls as a copy.")
        .def("__arrow_c_schema__", &arrow_schema, "For Arrow: the type.")
        .def("__arrow_c_array__", &arrow_array, nb::arg("requested_schema") = nb::none(),
             "For Arrow: the elements that there are now. Nothing is copied, but bool, which is packed into bits.")
        .def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
             nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(), "For numpy.from_dlpack and others.")
        .def(
            "__dlpack_device__", [](const nb::handle_t<array>&) { return std::pair(static_cast<int>(kDLCPU), 0); },
            "For DLPack: the CPU.");
}

}    // namespace headroom_python
