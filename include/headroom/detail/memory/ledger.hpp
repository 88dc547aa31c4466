// Remembers which blocks are in use, and for a while which were, to tell apart the ways of giving back a wrong block. For
// tracking_resource and for checked builds. Not synchronized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// What is known of a block.
struct block_record {
    std::size_t bytes = 0;
    std::size_t alignment = 0;
    std::uint64_t serial = 0;    // the how-manyth allocation of this ledger, from 1
};

enum class block_fault : std::uint8_t { none, double_free, wrong_size, wrong_alignment, foreign, after_release };

class HEADROOM_API block_ledger {
public:
    block_ledger() noexcept;
    ~block_ledger();
    block_ledger(const block_ledger&) = delete;
    block_ledger& operator=(const block_ledger&) = delete;

    // Has memory ready for remembering so many blocks more. Throws bad_alloc. O(1) for one more than before.
    void expect(std::size_t more);

    // Remembers a block that is now in use. Throws bad_alloc, and then has changed nothing; never, if it was expected. O(1).
    void add(const void* block, std::size_t bytes, std::size_t alignment);

    // Says whether `block` may be given back so, and if so no longer counts it as in use. `known` is what was remembered of
    // it, where anything was. O(1).
    block_fault remove(const void* block, std::size_t bytes, std::size_t alignment, block_record& known) noexcept;

    // All blocks go at once: giving one back after this is `after_release`. O(n).
    void release() noexcept;
    // The same for those in [first, last).
    void release(const void* first, const void* last) noexcept;
    // The same for all, with a call of `visit(context, block, record)` for each.
    void release(void (*visit)(void* context, const void* block, const block_record& record) noexcept, void* context) noexcept;

    [[nodiscard]] std::size_t count() const noexcept;

    // Calls `visit(context, block, record)` for each block in use, in order of allocation. Throws bad_alloc.
    void for_each(void (*visit)(void* context, const void* block, const block_record& record), void* context) const;

private:
    struct tables;
    std::unique_ptr<tables> tables_;
};

// Writes what is wrong to standard error and aborts.
HEADROOM_API [[noreturn]] void fail_block(const char* resource, const void* owner, block_fault fault, const void* block,
                                          std::size_t bytes, std::size_t alignment, const block_record& known) noexcept;
HEADROOM_API [[noreturn]] void fail_written(const char* resource, const void* owner, const void* block, std::size_t bytes,
                                            std::size_t at) noexcept;

HEADROOM_API [[noreturn]] void fail_rewind(const char* resource, const void* owner, std::size_t to, std::size_t used) noexcept;

// The sentence of such a message, without the resource, into `text`; returns `text`.
HEADROOM_API char* describe_fault(char* text, std::size_t size, block_fault fault, const void* block, std::size_t bytes,
                                  std::size_t alignment, const block_record& known) noexcept;

}}}    // namespace headroom::detail
