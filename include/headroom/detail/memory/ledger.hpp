// SPDX-License-Identifier: MIT
// A table of the blocks in use, and of those freed lately, that recognises wrong deallocations. Not synchronized.
#pragma once

#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Record of a block.
struct block_record {
    std::size_t bytes = 0;
    std::size_t alignment = 0;
    std::uint64_t serial = 0;    // number of the allocation in this ledger, from 1
};

enum class block_fault : std::uint8_t { none, double_free, wrong_size, wrong_alignment, foreign, after_release };

class HEADROOM_API block_ledger {
public:
    block_ledger() noexcept;
    ~block_ledger();
    block_ledger(const block_ledger&) = delete;
    block_ledger& operator=(const block_ledger&) = delete;

    // Allocates memory for the records of `count` blocks, so that add() cannot fail for those. Throws bad_alloc. Amortized O(count).
    void reserve_records(std::size_t count);

    // Records a block in use. Throws bad_alloc, unless reserve_records() made memory for it; nothing has changed then. O(1).
    void add(const void* block, std::size_t bytes, std::size_t alignment);

    // Records a right deallocation and returns `none`; otherwise returns the fault. Sets `known` to the block's record, if any. O(1).
    block_fault mark_freed(const void* block, std::size_t bytes, std::size_t alignment, block_record& known) noexcept;

    // Records all blocks as released; deallocating one afterwards is the fault `after_release`. O(n).
    void mark_released() noexcept;
    // Records the blocks in [first, last) as released. O(n).
    void mark_released(const void* first, const void* last) noexcept;
    // Calls `visit(context, block, record)` for each block in use and records it as released. O(n).
    void mark_released(void (*visit)(void* context, const void* block, const block_record& record) noexcept,
                       void* context) noexcept;

    // Returns the number of blocks in use.
    [[nodiscard]] std::size_t count() const noexcept;

    // Calls `visit(context, block, record)` for each block in use, in order of allocation. Throws bad_alloc.
    HEADROOM_HIDDEN void for_each(void (*visit)(void* context, const void* block, const block_record& record),
                                  void* context) const;

private:
    struct tables;
    tables* tables_ = nullptr;    // null until the first record
};

// Writes to standard error that a deallocation is wrong, by describe_fault(), and aborts. `owner`: address of the resource.
HEADROOM_API [[noreturn]] void fail_block(const char* resource, const void* owner, block_fault fault, const void* block,
                                          std::size_t bytes, std::size_t alignment, const block_record& known) noexcept;
// Writes that byte `at` of a free block was changed, and aborts; fail_rewind(): that a marker at byte `to` is past the `used` bytes.
HEADROOM_API [[noreturn]] void fail_written(const char* resource, const void* owner, const void* block, std::size_t bytes,
                                            std::size_t at) noexcept;

HEADROOM_API [[noreturn]] void fail_rewind(const char* resource, const void* owner, std::size_t to, std::size_t used) noexcept;

// Writes a sentence that describes the fault to the `size` bytes at `text`, shortened to fit; returns `text`.
char* describe_fault(char* text, std::size_t size, block_fault fault, const void* block, std::size_t bytes, std::size_t alignment,
                     const block_record& known) noexcept;

}}}    // namespace headroom::detail
