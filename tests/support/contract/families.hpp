// SPDX-License-Identifier: MIT
// Families of containers, for suites that choose the element types. `make<T>()` returns an owner of an empty container of T,
// accessible by get(). `takes<T>` is true if there is one; `moves` is true if growth moves elements.
#pragma once

#include <cstddef>
#include <utility>

namespace headroom_test {

template <class Container>
struct owned {
    Container container;
    [[nodiscard]] Container& get() noexcept { return container; }
};

template <template <class> class Container, bool Moves>
struct family {
    static constexpr bool moves = Moves;
    template <class T>
    static constexpr bool takes = true;
    template <class T>
    static owned<Container<T>> make() {
        return {};
    }
};

}    // namespace headroom_test

#include "support/contract/contract.hpp"    // nth()
