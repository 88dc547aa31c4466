// SPDX-License-Identifier: MIT
// What arrays and tables are handed over as.
#pragma once

#include <headroom/arrow.hpp>

#include <memory>
#include <string_view>

#include "array.hpp"

namespace headroom_python {

// The first rows of a column, as Arrow has them: shared where they lie. Throws TypeError where Arrow has no such type.
[[nodiscard]] headroom::arrow_column arrow_column_of(column& of, std::size_t rows, std::string_view name);

// Returns a capsule that releases the struct unless a consumer has taken it.
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

}    // namespace headroom_python
