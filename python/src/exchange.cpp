// What other libraries are handed: NumPy's array interface, Arrow's capsules, DLPack's. All of them share the storage, and
// none holds a reference to a Python object: so it is given back without Python's lock, and after Python has ended.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"

namespace headroom_python {
namespace {

// Shares the elements that there are now.
template <class T>
headroom::frozen<T> shared(const array& of) {
    const std::span<const T> elements(reinterpret_cast<const T*>(of.held->data), of.size());
    return headroom::frozen<T>(elements, std::shared_ptr<storage>(of.held));
}

headroom::arrow_column column_of(const array& of, std::string_view name) {
    return with_type(of.kind, [&]<class T>(type_tag<T>) {
        if constexpr (std::is_same_v<T, bool>) {    // a byte each here, a bit each there
            headroom::bit_column bits;
            const auto* const each = reinterpret_cast<const unsigned char*>(of.held->data);
            for (std::size_t i = 0; i < of.size(); ++i) bits.push_back(each[i] != 0);
            return headroom::arrow_column(name, std::move(bits));
        } else {
            return headroom::arrow_column(name, shared<T>(of));
        }
    });
}

// A capsule that releases what nobody has taken out of it.
template <class Struct>
nb::object capsule(std::unique_ptr<Struct> made, const char* name) {
    PyObject* const object = PyCapsule_New(made.get(), name, [](PyObject* self) {
        auto* const held = static_cast<Struct*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
        if (held->release != nullptr) held->release(held);
        delete held;
    });
    if (object == nullptr) {
        if (made->release != nullptr) made->release(made.get());
        throw nb::python_error();
    }
    static_cast<void>(made.release());
    return nb::steal(object);
}

nb::object arrow_schema(const array& of) {
    ArrowArray unused{};
    auto schema = std::make_unique<ArrowSchema>();
    with_type(of.kind, [&]<class T>(type_tag<T>) {
        if constexpr (std::is_same_v<T, bool>) {
            headroom::export_arrow(headroom::arrow_column("", headroom::bit_column()), &unused, schema.get());
        } else {
            headroom::export_arrow(headroom::arrow_column("", headroom::frozen<T>()), &unused, schema.get());
        }
    });
    unused.release(&unused);
    return capsule(std::move(schema), "arrow_schema");
}

nb::object arrow_array(const array& of, const nb::object&) {
    auto made = std::make_unique<ArrowArray>();
    auto schema = std::make_unique<ArrowSchema>();
    headroom::export_arrow(column_of(of, ""), made.get(), schema.get());
    const nb::object type = capsule(std::move(schema), "arrow_schema");
    return nb::make_tuple(type, capsule(std::move(made), "arrow_array"));
}

nb::object array_interface(const array& of) {
    nb::dict made;
    const std::string order = of.width == 1 ? "|" : PY_LITTLE_ENDIAN ? "<" : ">";
    made["version"] = 3;
    made["typestr"] = order + facts(of.kind).typestr;
    made["shape"] = nb::make_tuple(of.size());
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

nb::object dlpack(const array& of, const nb::object& stream, const std::optional<std::pair<int, int>>& max_version,
                  const std::optional<std::pair<int, int>>& dl_device, std::optional<bool> copy) {
    if (!stream.is_none()) throw nb::value_error("memory of the CPU has no stream: pass stream=None");
    if (dl_device && *dl_device != std::pair(static_cast<int>(kDLCPU), 0)) throw nb::buffer_error("the memory is the CPU's");
    if (is_time(of.kind)) throw nb::buffer_error((std::string("DLPack has no type for ") + facts(of.kind).name).c_str());
    array from(of.kind, of.held);
    if (copy.value_or(false)) {
        from.held = std::make_shared<memory_storage>(of.held->used, true);
        append_bytes(from, of.held->data, of.held->used);
    }
    const bool versioned = max_version && max_version->first >= 1;
    if (!versioned && !from.held->writable) {
        throw nb::buffer_error(
            "the array is read-only, which DLPack before 1.0 cannot say: ask for max_version=(1, 0), or copy=True");
    }
    return with_type(from.kind, [&]<class T>(type_tag<T>) -> nb::object {
        if constexpr (headroom::dlpack_value<T>) {
            if (!versioned) return tensor_capsule(headroom::to_unversioned_dlpack(shared<T>(from)), "dltensor");
            DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared<T>(from), !from.held->writable);
            if (from.held != of.held) tensor->flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
            return tensor_capsule(tensor, "dltensor_versioned");
        } else {
            return nb::none();    // times: above
        }
    });
}

// Named arrays side by side, for those who read tables.
struct table {
    std::vector<std::pair<std::string, array>> columns;    // which share the storage: no Python object is held
    std::size_t rows_of_chunk = (std::numeric_limits<std::size_t>::max)();
};

std::size_t rows_of(const table& of) {
    std::optional<std::size_t> rows;
    for (const auto& [name, column] : of.columns) {
        const std::size_t size = column.size();
        if (rows && *rows != size)
            throw nb::value_error(("column '" + name + "' is of another length than those before it").c_str());
        rows = size;
    }
    return rows.value_or(0);
}

nb::object table_stream(const table& of, const nb::object&) {
    static_cast<void>(rows_of(of));    // says which column does not fit
    std::vector<headroom::arrow_column> columns;
    columns.reserve(of.columns.size());
    for (const auto& [name, column] : of.columns) columns.push_back(column_of(column, name));
    auto stream = std::make_unique<ArrowArrayStream>();
    headroom::export_arrow_table(stream.get(), std::move(columns), headroom::chunk_rows(of.rows_of_chunk));
    return capsule(std::move(stream), "arrow_array_stream");
}

nb::object table_schema(const table& of) {
    std::vector<headroom::arrow_column> columns;
    for (const auto& [name, column] : of.columns) {
        with_type(column.kind, [&, &called = name]<class T>(type_tag<T>) {
            if constexpr (std::is_same_v<T, bool>) {
                columns.emplace_back(called, headroom::bit_column());
            } else {
                columns.emplace_back(called, headroom::frozen<T>());
            }
        });
    }
    ArrowArray unused{};
    auto schema = std::make_unique<ArrowSchema>();
    headroom::export_arrow(headroom::arrow_column::record("", std::move(columns)), &unused, schema.get());
    unused.release(&unused);
    return capsule(std::move(schema), "arrow_schema");
}

void construct_table(table* place, const nb::dict& columns, std::optional<Py_ssize_t> chunk_rows) {
    table made;
    for (const auto& [name, column] : columns) {
        if (!nb::isinstance<nb::str>(name)) throw nb::type_error("names of columns are str");
        if (!nb::isinstance<array>(column) || !nb::inst_ready(column)) throw nb::type_error("columns are headroom_arrays.Array");
        made.columns.emplace_back(nb::cast<std::string>(name), *nb::inst_ptr<array>(column));
    }
    if (made.columns.empty()) throw nb::value_error("a table has at least one column");
    if (chunk_rows && *chunk_rows < 1) throw nb::value_error("chunk_rows is less than one");
    if (chunk_rows) made.rows_of_chunk = static_cast<std::size_t>(*chunk_rows);
    ::new (static_cast<void*>(place)) table(std::move(made));
}

}    // namespace

namespace {

// A capsule may have been emptied by somebody who took what was in it; nothing else of a released struct may be looked at.
template <class... Structs>
void expect_unreleased(const Structs*... given) {
    if (((given->release == nullptr) || ...))
        throw std::invalid_argument("headroom: what the capsule held has been taken, or released, already");
}

bool same_type(const array& to, const ArrowSchema& given) {
    if (given.format == nullptr) throw std::invalid_argument("headroom: the Arrow schema names no type");
    return with_type(to.kind, [&]<class T>(type_tag<T>) {
        std::string_view wanted = "b";
        if constexpr (!std::is_same_v<T, bool>) wanted = headroom::detail::arrow_format_of<T>::get();
        const std::string_view format = given.format;
        // (Of instants a time zone may follow: whether that fits says import_arrow.)
        return format == wanted || (is_time(to.kind) && format.substr(0, 3) == wanted.substr(0, 3));
    });
}

// Throws TypeError where an Arrow type is not that of the array's elements.
void expect_type(const array& to, const ArrowSchema& given) {
    if (same_type(to, given)) return;
    std::string words =
        "an Array of " + std::string(facts(to.kind).name) + " takes no Arrow array of type \"" + given.format + "\"";
    words += given.format[0] == '+'
                 ? ": it takes numbers, bool and times; of a table, batch or struct pass the columns one by one, "
                   "of a list its values"
                 : ": cast it first, or make an Array of its dtype";
    throw nb::type_error(words.c_str());
}

void append_arrow(array& to, ArrowArray* given, ArrowSchema* schema) {
    expect_unreleased(given, schema);
    expect_type(to, *schema);
    with_type(to.kind, [&]<class T>(type_tag<T>) {
        const headroom::imported<T> values = headroom::import_arrow<T>(given, schema);
        if constexpr (std::is_same_v<T, bool>) {
            std::vector<unsigned char> bytes(values.size());
            for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = values[i] ? 1 : 0;
            append_bytes(to, bytes.data(), bytes.size());
        } else {
            append_bytes(to, values.data(), values.size() * sizeof(T));
        }
    });
}

// What a stream gives, released however this ends.
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

// Chunk by chunk: what came before one that does not fit stays. False, with nothing appended, where elements of another type
// may fit when they are asked one by one.
bool append_stream(array& to, ArrowArrayStream* stream) {
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

bool extend_from_arrow(array& to, nb::handle from) {
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
        return false;    // it needs a library that is not there: it can be asked for its elements
    }
    auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (stream == nullptr) throw nb::python_error();
    return append_stream(to, stream);    // (The capsule releases it.)
}

void bind_exchange(nb::class_<array>& type, nb::module_& module) {
    type.def_prop_ro("__array_interface__", &array_interface, "For numpy.asarray(array), which copies nothing.")
        .def("__arrow_c_schema__", &arrow_schema, "For Arrow: the type.")
        .def("__arrow_c_array__", &arrow_array, nb::arg("requested_schema") = nb::none(),
             "For Arrow: the elements that there are now. Nothing is copied, but bool, which is packed into bits.")
        .def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
             nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(), "For numpy.from_dlpack and others.")
        .def("__dlpack_device__", [](const array&) { return std::pair(static_cast<int>(kDLCPU), 0); }, "For DLPack: the CPU.");

    nb::class_<table>(
        module, "Table",
        "Named arrays of one length side by side: what pyarrow.table, polars.from_arrow and duckdb take, without a copy.\n\n"
        "columns: names and arrays. chunk_rows: rows of a chunk at most; all in one unless said.")
        .def("__init__", &construct_table, nb::arg("columns"), nb::kw_only(), nb::arg("chunk_rows") = nb::none())
        .def("__len__", &rows_of)
        .def_prop_ro(
            "column_names",
            [](const table& self) {
                nb::list names;
                for (const auto& column : self.columns) names.append(nb::cast(column.first));
                return names;
            },
            "Their names.")
        .def("__getitem__",
             [](const table& self, const std::string& name) {
                 for (const auto& column : self.columns) {
                     if (column.first == name) return column.second;
                 }
                 throw nb::key_error(name.c_str());
             })
        .def("__repr__",
             [](const table& self) { return "headroom_arrays.Table(" + std::to_string(self.columns.size()) + " columns)"; })
        .def("__arrow_c_schema__", &table_schema, "For Arrow: the names and types.")
        .def("__arrow_c_stream__", &table_stream, nb::arg("requested_schema") = nb::none(),
             "For Arrow: the elements that there are now.");
}

}    // namespace headroom_python
