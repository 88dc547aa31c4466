// SPDX-License-Identifier: MIT
// Arguments of calls from Python, with errors in Python's words that name the argument.
#pragma once

#include "array.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace headroom_python {

// A number of elements or rows. Throws TypeError if it is no integer, ValueError if negative, OverflowError if it fits no index.
[[nodiscard]] std::size_t count_argument(nb::handle given, const char* name);
// Nothing for None.
[[nodiscard]] std::optional<std::size_t> optional_count_argument(nb::handle given, const char* name);
// A str. Throws TypeError.
[[nodiscard]] std::string text_argument(nb::handle given, const char* name);
// A path, made absolute because the working folder may change; empty for None. Throws TypeError, and ValueError if it is empty or has a
// null character.
[[nodiscard]] std::string path_argument(nb::handle given, const char* name);

}    // namespace headroom_python
