// headroom.Array, as C++ sees it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "kinds.hpp"
#include "storage.hpp"

namespace headroom_python {

namespace nb = nanobind;

struct array {
    std::shared_ptr<storage> held;
    headroom_python::kind kind = kind::float64;
    std::size_t width = 8;    // bytes of an element
    std::string path;         // of the file; empty without one

    [[nodiscard]] std::size_t size() const noexcept { return held->used / width; }
};

// What can be asked of a Python object that is to become an element. Sets a Python error and returns false where it cannot.
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
