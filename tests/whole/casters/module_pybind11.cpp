// SPDX-License-Identifier: MIT
#include <headroom/casters/pybind11.hpp>

#include "functions.hpp"

PYBIND11_MODULE(casters_pybind11, module) {
    define_all([&module](const char* name, auto* function) { module.def(name, function); });
}
