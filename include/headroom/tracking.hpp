// SPDX-License-Identifier: MIT
// A memory resource that counts the memory in use and its peak, and finds blocks that are deallocated wrongly or never.
//
// Choose it in tests, and to measure what a subsystem allocates; put it over or under any other resource. It passes every request on to
// its upstream, and records every block: about 200 ns and 100 bytes each. Synchronized.
//
// It counts each mistake and writes a message to standard error, or passes the message to a function of the program. It does not pass the
// wrong deallocation on, so the program continues; to end it instead, let the function call std::abort.
//
// Document: P0089R0 (allocators "can aid testing, debugging, and measurement").
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory_resource>
#include <string>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/memory/ledger.hpp>
#include <headroom/detail/memory/resource_mutex.hpp>

namespace headroom { inline namespace v0_1 {

// Counts of a tracking_resource. Blocks and bytes are those of the requests.
struct tracking_statistics {
    std::size_t blocks = 0;    // in use
    std::size_t bytes = 0;
    std::size_t peak_blocks = 0;    // largest number in use at once
    std::size_t peak_bytes = 0;
    std::uint64_t total_blocks = 0;    // ever allocated
    std::uint64_t total_bytes = 0;
    std::uint64_t failures = 0;    // requests that upstream refused
    std::uint64_t double_frees = 0;
    std::uint64_t wrong_sizes = 0;
    std::uint64_t wrong_alignments = 0;
    std::uint64_t foreign_frees = 0;    // blocks that were not allocated here, or long ago
    std::uint64_t late_frees = 0;       // deallocations of blocks that release() had freed

    // Returns the number of wrong deallocations.
    [[nodiscard]] std::uint64_t errors() const noexcept {
        return double_frees + wrong_sizes + wrong_alignments + foreign_frees + late_frees;
    }
};

class HEADROOM_API tracking_resource final : public std::pmr::memory_resource {
public:
    // Receives each message, a sentence without a line end. `context` is the program's. Called on the thread that made the mistake,
    // without a lock held, so it may use the resource. Several threads may call it at once.
    using listener = void (*)(void* context, const char* message);

    // `name` appears in messages; it and `upstream` must outlive the resource. Never throws.
    explicit tracking_resource(std::pmr::memory_resource* upstream = std::pmr::get_default_resource(),
                               const char* name = "tracking_resource") noexcept;
    explicit tracking_resource(const char* name) noexcept : tracking_resource(std::pmr::get_default_resource(), name) {}
    tracking_resource(const tracking_resource&) = delete;
    tracking_resource& operator=(const tracking_resource&) = delete;

    // Reports leaks, if there are any. Leaked blocks stay allocated, since they may still be in use.
    ~tracking_resource() override;

    // Sends messages to `to` instead of standard error; null discards them.
    void report_to(listener to, void* context = nullptr) noexcept;

    // Allocates from upstream. Throws what upstream throws, and bad_alloc when the block cannot be recorded.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t));

    // Passes the block on to upstream. Reports and keeps a block not in use here, or of another size or alignment.
    void deallocate(void* block, std::size_t bytes, std::size_t alignment = alignof(std::max_align_t));

    // Returns all blocks in use to upstream; they do not count as leaks. O(blocks). Invalidates: every block.
    void release() noexcept;

    // Calls release(): upstream has no call that frees all blocks and keeps their memory.
    void rewind() noexcept { release(); }

    // Returns the counts. Any code of the program may call it: a listener too, and an upstream or new_handler called by this resource.
    [[nodiscard]] tracking_statistics statistics() const;

    // Sets the counts of events to zero, and the peaks to the blocks and bytes in use, which stay counted.
    void reset_statistics() noexcept;

    // Returns the number of blocks in use, their bytes, and a line for each size, largest total first: the leaks, once all blocks should
    // be freed. Throws bad_alloc. An upstream or new_handler called by this resource must not call it.
    [[nodiscard]] std::string report() const;

    [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return upstream_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

    // Passes the message to the listener. No lock must be held.
    void notify_listener(const char* message) const noexcept;
    // Calls change(counts) under their lock.
    template <class Change>
    void change_counts(Change change) noexcept;
    // Returns the text of report(), without the name. Throws bad_alloc. Requires mutex_, except in the destructor.
    [[nodiscard]] std::string describe_blocks_in_use() const;

    std::pmr::memory_resource* upstream_;
    const char* name_;
    listener listener_;
    void* context_ = nullptr;
    mutable detail::resource_mutex mutex_{upstream_};    // guards upstream and ledger, which call code of the program
    detail::block_ledger ledger_;
    // Guards the counts and the listener. Taken last; no code of the program runs under it.
    mutable detail::resource_mutex counts_mutex_;
    tracking_statistics counts_;
};

}}    // namespace headroom
