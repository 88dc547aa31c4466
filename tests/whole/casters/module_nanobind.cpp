// SPDX-License-Identifier: MIT
#include <headroom/casters/nanobind.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "functions.hpp"

NB_MODULE(casters_nanobind, module) {
    define_all([&module](const char* name, auto* function) { module.def(name, function); });
}
