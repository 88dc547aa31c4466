// How a block of a vector with std::allocator grows: to how many elements, and, where those travel as bytes, the growing.
//
// A block is on the heap or, from `large_layout::from` elements on, a large one. As with large blocks, nothing here depends on
// the element type but the numbers of a `large_layout`, so it is compiled once. That the copy between blocks is compiled here
// also keeps it a call of memcpy: where a vector's slow path is compiled for size, it would be an instruction that takes long
// to start.
//
// A heap hands out more than it is asked for: glibc's malloc 24 bytes, 40, 56 ... A block that grows asks for all of it, so that
// a short vector of small elements grows less often, and still never has a larger block than one that doubles from a single
// element on. Where the heap is another one, nobody says what it hands out: then the block holds what doubling makes it hold.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/memory/large_block.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// As many elements as the heap's block for `count` of them has room for; `count` where that is not known. O(1). Never throws.
[[nodiscard]] HEADROOM_API std::size_t filled_capacity(const large_layout& layout, std::size_t count) noexcept;

// The capacity after `capacity` of a vector that doubles and grows by one element. Saturates. O(1). Never throws.
[[nodiscard]] HEADROOM_API std::size_t doubled_capacity(const large_layout& layout, std::size_t capacity) noexcept;

// A block of `capacity` that holds the first `size` elements, which travel as bytes, and has room for `required`; on the heap
// for `wanted`. Null where memory is refused: then nothing has changed. Invalidates: the old block. `exactly` as in
// large_block.hpp.
[[nodiscard]] HEADROOM_API large_block regrow_block(const large_layout& layout, void* begin, std::size_t size,
                                                    std::size_t capacity, std::size_t required, std::size_t wanted,
                                                    bool exactly) noexcept;

// The same in bytes, [begin, cap).
struct byte_block {
    void* begin = nullptr;
    void* cap = nullptr;
};
// The same for a block that is full, [begin, end), and needs room for one element more, of a vector that doubles. Throws std::bad_alloc
// where memory is refused, and where no more elements can exist, for which there is no memory either; then nothing has changed.
[[nodiscard]] HEADROOM_API byte_block grown_by_one(const large_layout& layout, void* begin, void* end);
// The same for a block of [begin, cap), of which [begin, end) is in use, and that is to have room for `required` elements: no more
// where `exactly`. Throws std::bad_alloc where memory is refused; then nothing has changed.
[[nodiscard]] HEADROOM_API byte_block grown(const large_layout& layout, void* begin, void* end, void* cap, std::size_t required,
                                            bool exactly);

}}}    // namespace headroom::detail
