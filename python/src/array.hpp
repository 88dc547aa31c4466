// headroom_arrays.Array, as C++ sees it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "kinds.hpp"
#include "storage.hpp"

namespace headroom_python {

namespace nb = nanobind;

struct array;

// Appends one Python object. Sets a Python error and returns false where it cannot; the array is as it was then.
using appending = bool (*)(array& to, PyObject* value) noexcept;
[[nodiscard]] appending appending_of(kind of) noexcept;

struct array {
    explicit array(headroom_python::kind of, std::shared_ptr<storage> elements = nullptr)
        : held(std::move(elements)), append(appending_of(of)), kind(of), width(facts(of).bytes) {}

    std::shared_ptr<storage> held;
    appending append;    // the kind's own, so that no append asks again what it is
    headroom_python::kind kind;
    std::size_t width;    // bytes of an element
    std::string path;     // of the file; empty without one

    [[nodiscard]] std::size_t size() const noexcept { return held->used / width; }
};

// What becomes of a Python object that is to be an element. Sets a Python error and returns false where it cannot be one.
[[nodiscard]] bool convert(kind to, PyObject* from, void* place) noexcept;
[[nodiscard]] nb::object element(const array& of, std::size_t index);
// Times as NumPy reads them, in the units of the kind, as an array of int64. Plain numbers are of those units already.
[[nodiscard]] nb::object ticks_of(kind to, const nb::object& values);

// Throws TypeError.
[[nodiscard]] kind kind_of(nb::handle dtype);

void bind_array(nb::module_& module);
void bind_exchange(nb::class_<array>& type, nb::module_& module);

// Appends what an Arrow producer (__arrow_c_array__) holds, if it is of the array's kind; else leaves it alone.
[[nodiscard]] bool extend_from_arrow(array& to, nb::handle from);

// Appends `count` elements that lie at `from`. Throws as storage::grow.
void append_bytes(array& to, const void* from, std::size_t bytes);

}    // namespace headroom_python
