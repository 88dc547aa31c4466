// SPDX-License-Identifier: MIT
// How capacity grows: pure arithmetic.
//
// Each type has one function, `next(capacity, required, element_size)`. It returns the new capacity, in elements, of a container that is
// full with `capacity` elements and must hold `required`. The result is never less than `required` (where that many elements can exist at
// all) and never more than fit into PTRDIFF_MAX bytes; no step overflows. Usable at compile time, O(1), never throws.
//
// Choose geometric<2, 1> to grow seldom, geometric<3, 2> to waste less (and to let an allocator reuse what was freed),
// linear<Bytes> where memory is short and growing is cheap, page_rounded<...> where memory comes in pages anyway. These last two are
// experiments of the documents: a release may drop them (docs/stability.md).
//
// Document: "Vector reallocation strategies" (the two geometric sequences).
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <cstdint>

namespace headroom { inline namespace v0_1 {

namespace detail {

// Returns the largest number of elements of `element_size` bytes in an array: pointers into it must be subtractable.
[[nodiscard]] constexpr std::size_t max_array_size(std::size_t element_size) noexcept {
    constexpr auto most_bytes = static_cast<std::size_t>(PTRDIFF_MAX);
    return element_size == 0 ? most_bytes : most_bytes / element_size;
}

// Returns `wanted`, at least `required` and at most `most`; `most` if `required` exceeds it, which the container must check.
[[nodiscard]] constexpr std::size_t bounded(std::size_t wanted, std::size_t required, std::size_t most) noexcept {
    const std::size_t enough = wanted < required ? required : wanted;
    return enough < most ? enough : most;
}

// Returns Growth::next(), between `required` and the longest array: a program's own growth may err (`capacity * 3 / 2` of 1 is 1).
template <class Growth>
[[nodiscard]] constexpr std::size_t apply_growth(std::size_t capacity, std::size_t required, std::size_t element_size) noexcept {
    return detail::bounded(Growth::next(capacity, required, element_size), required, detail::max_array_size(element_size));
}

}    // namespace detail

// Grows to `Num`/`Den` times the capacity, rounded down, but by at least one element: 2/1 like libstdc++ and libc++, 3/2 like MSVC.
template <std::size_t Num, std::size_t Den>
struct geometric {
    static_assert(Den > 0 && Num > Den, "a vector that does not grow");

    [[nodiscard]] static constexpr std::size_t next(std::size_t capacity, std::size_t required,
                                                    std::size_t element_size) noexcept {
        const std::size_t most = detail::max_array_size(element_size);
        if (capacity >= most) return most;
        // Computes capacity * (Num - Den) / Den in two parts, so that the product cannot overflow.
        constexpr std::size_t extra = Num - Den;
        const std::size_t whole = capacity / Den;
        const std::size_t rest = capacity % Den * extra / Den;
        const std::size_t room = most - capacity;
        const bool saturated = whole > (room - (rest < room ? rest : room)) / extra;
        std::size_t step = saturated ? room : whole * extra + rest;
        if (step == 0) step = 1;
        return detail::bounded(capacity + step, required, most);
    }
};

// Grows by `Bytes`, rounded down to elements, but by at least one element.
template <std::size_t Bytes>
struct linear {
    static_assert(Bytes > 0, "a vector that does not grow");

    [[nodiscard]] static constexpr std::size_t next(std::size_t capacity, std::size_t required,
                                                    std::size_t element_size) noexcept {
        const std::size_t most = detail::max_array_size(element_size);
        if (capacity >= most) return most;
        const std::size_t size = element_size == 0 ? 1 : element_size;
        const std::size_t step = Bytes < size ? 1 : Bytes / size;
        const std::size_t room = most - capacity;
        return detail::bounded(capacity + (step < room ? step : room), required, most);
    }
};

// Grows like `Growth`, then to as many elements as fit into whole pages of 4096 bytes. That is the smallest page there is, so the result
// is the same on every machine; committing rounds up to the system's own.
template <class Growth>
struct page_rounded {
    static constexpr std::size_t page = 4096;

    [[nodiscard]] static constexpr std::size_t next(std::size_t capacity, std::size_t required,
                                                    std::size_t element_size) noexcept {
        const std::size_t most = detail::max_array_size(element_size);
        const std::size_t wanted = Growth::next(capacity, required, element_size);
        const std::size_t size = element_size == 0 ? 1 : element_size;
        if (wanted >= most) return most;
        const std::size_t pages = (wanted * size + (page - 1)) / page;    // at most PTRDIFF_MAX + 4095: no overflow
        return detail::bounded(pages * page / size, wanted, most);
    }
};

}}    // namespace headroom
