// Families of containers, for suites that choose the elements themselves: `make<T>()` owns an empty container of T, which get() gives,
// `takes<T>` says whether there is one, and `moves` whether elements move when it grows.
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
