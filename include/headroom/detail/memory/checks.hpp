// SPDX-License-Identifier: MIT
// Checks of the memory resources in checked builds: every block is recorded, and a mistake ends the program with a message that names the
// resource and the block. On with HEADROOM_CHECKED or HEADROOM_HARDENED; define it for all files of a program alike. Checked resources
// have other mangled names, so that files which disagree do not link. Costs in checked builds: a hash table entry for each block, about
// 200 ns for each call. In all others: nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>    // lock_guard

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/memory/ledger.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/poison.hpp>
#include <headroom/detail/memory/resource_mutex.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {
inline namespace HEADROOM_MEMORY_ABI {

#if defined(HEADROOM_MEMORY_CHECKED)

inline constexpr bool memory_checked = true;

// Freed blocks are filled with this, which is verified when they are allocated again.
inline constexpr unsigned char free_fill = 0xDD;

class memory_checks {
public:
    // `resource` names the kind of resource in messages: "multipool_resource".
    explicit memory_checks(const char* resource) noexcept : resource_(resource) {}

    // Allocates memory for the records of `count` blocks, so that on_allocate() cannot fail. Throws bad_alloc. Returns true.
    bool expect_block(std::size_t count = 1) {
        ledger_.reserve_records(count);
        return true;
    }
    // Records a block in use. Throws bad_alloc unless expect_block() was called before.
    void on_allocate(const void* block, std::size_t bytes, std::size_t alignment) { ledger_.add(block, bytes, alignment); }
    // Records a deallocation by the resource `owner`. Ends the program unless the block is in use, with that size and alignment.
    void on_deallocate(const void* owner, const void* block, std::size_t bytes, std::size_t alignment) noexcept {
        block_record known;
        const block_fault fault = ledger_.mark_freed(block, bytes, alignment, known);
        if (fault != block_fault::none) detail::fail_block(resource_, owner, fault, block, bytes, alignment, known);
    }
    void on_release() noexcept { ledger_.mark_released(); }
    // Records that the blocks in [first, last) were released; without arguments, all.
    void on_release(const void* first, const void* last) noexcept { ledger_.mark_released(first, last); }

    // Fills the bytes [from, bytes) of a freed block with free_fill.
    static void fill(void* block, std::size_t from, std::size_t bytes) noexcept {
        if (bytes > from) std::memset(static_cast<std::byte*>(block) + from, free_fill, bytes - from);
    }
    // Ends the program if one of the bytes [from, bytes) of a free block is not free_fill.
    void verify_fill(const void* owner, const void* block, std::size_t from, std::size_t bytes) const noexcept {
        const auto* const data = static_cast<const unsigned char*>(block);
        for (std::size_t at = from; at < bytes; ++at) {
            if (data[at] != free_fill) detail::fail_written(resource_, owner, block, bytes, at);
        }
    }

private:
    const char* resource_;
    block_ledger ledger_;
};

// The checks of resources that many threads use: memory_checks under a lock.
class synchronized_checks {
public:
    explicit synchronized_checks(const char* resource) noexcept : checks_(resource) {}

    // Guard of a thread that allocates a block: keeps memory for its record. The constructor throws bad_alloc.
    class expectation {
    public:
        explicit expectation(synchronized_checks& checks) : checks_(checks) {
            const std::lock_guard lock(checks_.mutex_);
            checks_.checks_.expect_block(checks_.threads_ + 1);
            ++checks_.threads_;
        }
        ~expectation() {
            const std::lock_guard lock(checks_.mutex_);
            --checks_.threads_;
        }
        expectation(const expectation&) = delete;
        expectation& operator=(const expectation&) = delete;

    private:
        synchronized_checks& checks_;
    };
    [[nodiscard]] expectation expect_block() { return expectation(*this); }
    void on_allocate(const void* block, std::size_t bytes, std::size_t alignment) {
        const std::lock_guard lock(mutex_);
        checks_.on_allocate(block, bytes, alignment);
    }
    void on_deallocate(const void* owner, const void* block, std::size_t bytes, std::size_t alignment) noexcept {
        const std::lock_guard lock(mutex_);
        checks_.on_deallocate(owner, block, bytes, alignment);
    }
    void on_release() noexcept {
        const std::lock_guard lock(mutex_);
        checks_.on_release();
    }

private:
    resource_mutex mutex_;
    memory_checks checks_;
    std::size_t threads_ = 0;    // that expect a block
};

#else

inline constexpr bool memory_checked = false;

// Does nothing, in builds without checks.
class memory_checks {
public:
    constexpr explicit memory_checks(const char*) noexcept {}
    HEADROOM_ALWAYS_INLINE bool expect_block() noexcept { return true; }
    HEADROOM_ALWAYS_INLINE void on_allocate(const void*, std::size_t, std::size_t) noexcept {}
    HEADROOM_ALWAYS_INLINE void on_deallocate(const void*, const void*, std::size_t, std::size_t) noexcept {}
    HEADROOM_ALWAYS_INLINE void on_release() noexcept {}
    HEADROOM_ALWAYS_INLINE void on_release(const void*, const void*) noexcept {}
    HEADROOM_ALWAYS_INLINE static void fill(void*, std::size_t, std::size_t) noexcept {}
    HEADROOM_ALWAYS_INLINE void verify_fill(const void*, const void*, std::size_t, std::size_t) const noexcept {}
};

using synchronized_checks = memory_checks;

#endif

// Poisons a freed block, whose first word is its link; in checked builds fills the rest, so that a write to it is noticed.
HEADROOM_ALWAYS_INLINE void poison_free_block(void* block, std::size_t size) noexcept {
    if constexpr (memory_checked || poisoning) {
        detail::unpoison(block, size);
        memory_checks::fill(block, sizeof(void*), size);
        detail::poison(block, size);
    }
}

}}}}    // namespace headroom::detail
