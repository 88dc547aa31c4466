// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>

#include <headroom/reservation.hpp>

#include <stdexcept>

#include "array.hpp"
#include "errors.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
    module.doc() = "The compiled part of headroom: see help(headroom_arrays).";
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const nb::builtin_exception&) {
            throw;    // nanobind's own
        } catch (const std::out_of_range&) {
            throw;
        } catch (...) {
            headroom_python::set_python_error();
        }
    });
    // A daemon thread that is still alive at the end keeps objects; that is no leak of ours.
    nb::set_leak_warnings(false);
    headroom_python::bind_array(module);
    headroom_python::bind_table(module);
    module.def(
        "reservations",
        [] {
            nb::list all;
            for (const headroom::owner& each : headroom::reservations()) {
                all.append(nb::make_tuple(reinterpret_cast<std::uintptr_t>(each.base), each.reserved, each.committed));
            }
            return all;
        },
        "The address ranges that arrays hold now: where each begins, and how many bytes of it are reserved and committed.");
}
