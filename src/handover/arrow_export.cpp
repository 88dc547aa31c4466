// SPDX-License-Identifier: MIT
// Exports columns as the structs of Arrow's C Data Interface. Everything that can fail happens before the caller's structs are written.
// Every array owns its buffers and children, because an importer may move the children out and keep them longer.
#include <headroom/arrow.hpp>
#include <headroom/detail/attempt.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "handover/keep_loaded.hpp"
#include "throwing.hpp"

namespace headroom { inline namespace v0_1 {
namespace detail {
namespace {

struct owned_schema {
    std::string format;
    std::string name;
    std::vector<ArrowSchema> children;    // the dictionary's is last, if there is one
    std::vector<ArrowSchema*> pointers;

    ~owned_schema() {
        for (ArrowSchema& child : children) {
            if (child.release != nullptr) child.release(&child);    // a child that was moved out has another owner
        }
    }
};

struct owned_array {
    std::vector<share> owners;
    std::vector<const void*> buffers;
    std::vector<ArrowArray> children;    // and of the dictionary
    std::vector<ArrowArray*> pointers;

    ~owned_array() {
        for (ArrowArray& child : children) {
            if (child.release != nullptr) child.release(&child);
        }
    }
};

// Marks the struct as released and returns its private data. The destructors that follow may run code of the program, which may check the
// mark, and may free the struct itself.
template <class Owned, class Struct>
std::unique_ptr<Owned> release_private_data(Struct* released) noexcept {
    released->release = nullptr;
    return std::unique_ptr<Owned>(static_cast<Owned*>(std::exchange(released->private_data, nullptr)));
}

void release_schema(ArrowSchema* schema) noexcept { release_private_data<owned_schema>(schema); }
void release_array(ArrowArray* array) noexcept { release_private_data<owned_array>(array); }

template <class Struct>
std::vector<Struct*> addresses_of(std::vector<Struct>& children) {
    std::vector<Struct*> pointers;
    pointers.reserve(children.size());
    for (Struct& child : children) pointers.push_back(&child);
    return pointers;
}

ArrowSchema schema_of(const arrow_node& node) {
    auto owned = std::make_unique<owned_schema>();
    owned->format = node.format;
    owned->name = node.name;
    owned->children.reserve(node.children.size() + node.dictionary.size());
    for (const arrow_node& child : node.children) owned->children.push_back(schema_of(child));
    for (const arrow_node& values : node.dictionary) owned->children.push_back(schema_of(values));
    owned->pointers = addresses_of(owned->children);
    ArrowSchema made{};
    made.format = owned->format.c_str();
    made.name = owned->name.c_str();
    made.flags =
        ARROW_FLAG_NULLABLE;    // like other exporters for all columns, so that tables with and without nulls have one schema
    if (node.ordered) made.flags |= ARROW_FLAG_DICTIONARY_ORDERED;
    made.n_children = static_cast<std::int64_t>(node.children.size());
    made.children = node.children.empty() ? nullptr : owned->pointers.data();
    made.dictionary = node.dictionary.empty() ? nullptr : owned->pointers.back();
    made.release = &release_schema;
    made.private_data = owned.release();
    return made;
}

// Returns an array of the rows [first, first + count) of a column.
ArrowArray array_of(const arrow_node& node, std::size_t first, std::size_t count) {
    auto owned = std::make_unique<owned_array>();
    owned->owners.reserve(node.buffers.size());
    owned->buffers.reserve(node.buffers.size());
    for (const arrow_buffer& buffer : node.buffers) {
        owned->buffers.push_back(buffer.data);
        owned->owners.push_back(buffer.owner);
        if (const shared_owner* const owner = buffer.owner.get())
            keep_module_loaded_once(reinterpret_cast<const void*>(owner->destroy));
    }
    // Rows of a struct are rows of its fields; elements of lists are found through the offsets.
    const bool is_struct = node.format == "+s";
    owned->children.reserve(node.children.size() + node.dictionary.size());
    for (const arrow_node& child : node.children) {
        owned->children.push_back(is_struct && !node.nullable ? array_of(child, first, count) : array_of(child, 0, child.length));
    }
    for (const arrow_node& values : node.dictionary) owned->children.push_back(array_of(values, 0, values.length));
    owned->pointers = addresses_of(owned->children);
    ArrowArray made{};
    made.length = static_cast<std::int64_t>(count);
    // Nulls of a part are not counted.
    made.null_count = !node.nullable ? 0 : count == node.length ? node.null_count : -1;
    made.offset = static_cast<std::int64_t>(is_struct && !node.nullable ? 0 : first);
    made.n_buffers = static_cast<std::int64_t>(owned->buffers.size());
    made.n_children = static_cast<std::int64_t>(node.children.size());
    made.buffers = owned->buffers.data();
    made.children = node.children.empty() ? nullptr : owned->pointers.data();
    made.dictionary = node.dictionary.empty() ? nullptr : owned->pointers.back();
    made.release = &release_array;
    made.private_data = owned.release();
    return made;
}

// Scope guard: releases the struct if the next step fails.
template <class Struct>
struct release_guard {
    Struct made;
    release_guard(const release_guard&) = delete;
    explicit release_guard(const Struct& from) noexcept : made(from) {}
    ~release_guard() {
        if (made.release != nullptr) made.release(&made);
    }
    void to(Struct* out) noexcept {
        *out = made;
        made.release = nullptr;
    }
};

void export_node(const arrow_node& node, ArrowArray* array, ArrowSchema* schema) {
    if (array == nullptr) throw_invalid_arrow("there is no struct to write to");
    keep_module_loaded_once(reinterpret_cast<const void*>(&release_array));
    release_guard<ArrowArray> made(array_of(node, 0, node.length));
    if (schema != nullptr) release_guard<ArrowSchema>(schema_of(node)).to(schema);
    made.to(array);
}

struct owned_stream {
    arrow_node table;
    std::size_t chunk = 0;
    std::size_t next = 0;
    bool begun = false;
    const char* error = nullptr;
};

// Calls work(state) and returns 0 or an errno. Throws nothing, because the caller may be written in C.
template <class Work>
int call_without_throwing(ArrowArrayStream* stream, Work work) noexcept {
    auto& state = *static_cast<owned_stream*>(stream->private_data);
    return catch_all(
        [&] {
            return catch_bad_alloc(
                [&] {
                    work(state);
                    state.error = nullptr;
                    return 0;
                },
                [&state] {
                    state.error = "headroom: memory was refused";
                    return ENOMEM;
                });
        },
        [&state] {
            state.error = "headroom: a chunk could not be made";
            return EINVAL;
        });
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept {
    return call_without_throwing(stream, [out](const owned_stream& state) { *out = schema_of(state.table); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) noexcept {
    return call_without_throwing(stream, [out](owned_stream& state) {
        const std::size_t left = state.table.length - state.next;
        if (left == 0 && state.begun) {    // a table without rows is one empty chunk
            *out = ArrowArray{};
            return;
        }
        const std::size_t rows = (std::min)(left, state.chunk);
        *out = array_of(state.table, state.next, rows);
        state.next += rows;
        state.begun = true;
    });
}

const char* stream_error(ArrowArrayStream* stream) noexcept {
    return static_cast<const owned_stream*>(stream->private_data)->error;
}

void release_stream(ArrowArrayStream* stream) noexcept { release_private_data<owned_stream>(stream); }

}    // namespace

void throw_invalid_arrow(const char* what) { throw_exception<std::invalid_argument>(std::string("headroom: arrow: ") + what); }

std::string arrow_name(std::string_view name) {
    if (name.find('\0') != std::string_view::npos) throw_invalid_arrow("a name with a zero byte in it would be cut there");
    return std::string(name);
}

void export_table(ArrowArrayStream* stream, std::vector<arrow_column> columns, std::size_t rows) {
    if (stream == nullptr) throw_invalid_arrow("there is no struct to write to");
    if (rows == 0) throw_invalid_arrow("a chunk of no rows would never end");
    keep_module_loaded_once(reinterpret_cast<const void*>(&release_stream));
    auto state = std::make_unique<owned_stream>();
    state->table = arrow_column::record("", std::move(columns)).node();
    state->chunk = rows;
    *stream = ArrowArrayStream{&stream_schema, &stream_next, &stream_error, &release_stream, state.release()};
}

}    // namespace detail

void export_arrow(const arrow_column& column, ArrowArray* array, ArrowSchema* schema) {
    detail::export_node(column.node(), array, schema);
}

}}    // namespace headroom
