// SPDX-License-Identifier: MIT
// A container's part of a reserved range. The calls on it are in the headers of this folder, each defined in the file of src/range that
// has its name. They take a pointer to the control block, and touch nothing else of the container: see "register cursor" in docs/design.md.
#pragma once

#include <cstddef>

namespace headroom { inline namespace v0_1 { namespace detail {

// Why the system refused: value and category of a std::error_code, without its header, which takes as long to compile as <vector>.
struct failure {
    int value = 0;
    const void* category = nullptr;
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return value != 0; }
};

struct range;    // control block of one reserved range; never freed, so that owner_of() may read it at any time

// A container's part of a range that it has acquired. `control` is null if there is none.
struct held_range {
    range* control = nullptr;
    std::byte* base = nullptr;
    std::size_t committed = 0;    // bytes accessible from base
    std::size_t reserved = 0;     // bytes
};

}}}    // namespace headroom::detail
