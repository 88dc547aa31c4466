// SPDX-License-Identifier: MIT
// Records calls of functions that allocate and free, for functions that stand before the allocator's.
//
// Calls that such a function's allocator makes itself are not recorded: a block that comes through several of them counts once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recording.hpp"

#define HEADROOM_VISIBLE __attribute__((visibility("default")))
// Of the function that the recorder stands before: its caller's address, and its own frame.
#define HEADROOM_CALLER __builtin_return_address(0)
#define HEADROOM_FRAME __builtin_frame_address(0)

namespace headroom::profile {

// Fast path of every allocation: true if a sampled recording skips it.
inline bool passes(std::size_t size) {
    const std::uint64_t left = self.left;
    self.left = left - size;
    return left > size;
}

// An allocation that does not pass, by a function outside malloc's family. `frame`: of that function.
class outer_allocation {
public:
    outer_allocation(std::size_t size, const void* frame);
    // Records the block, unless it is null; returns it. To be called once, after the allocator has returned.
    void* end(void* block);

private:
    std::size_t size_;
    const void* frame_;
    std::uint64_t left_;
    std::uint64_t began_;    // ticks; 0: it is not timed
    bool nested_;
};

// Calls `allocate`, which must not throw, and records the block that it returns.
template <class Allocate>
inline void* outer_block(std::size_t size, const void* frame, Allocate allocate) {
    if (passes(size)) return allocate();
    outer_allocation call(size, frame);
    return call.end(allocate());
}

// For functions that throw, through which the recorder must not be inside: records the block of `or_null`; if that has none, calls
// `throwing`, which calls the new-handler again.
template <class OrNull, class Throwing>
inline void* block_or_throw(std::size_t size, const void* frame, OrNull or_null, Throwing throwing) {
    if (void* const block = outer_block(size, frame, or_null)) return block;
    void* const late = throwing();
    return outer_block(size, frame, [&] { return late; });
}

// A free by a function outside malloc's family, recorded before it and timed until it has ended.
class outer_free {
public:
    explicit outer_free(void* address);
    ~outer_free();
    outer_free(const outer_free&) = delete;
    outer_free& operator=(const outer_free&) = delete;

private:
    std::uint64_t came_;
    std::uint64_t began_;
    bool nested_;
    bool stamped_;
};

// Calls `release`, and records the free.
template <class Release>
inline void release_block(void* address, Release release) {
    if (address == nullptr || self.filter[place_in_filter(address)] == 0) return release();
    const outer_free call(address);
    release();
}

// A function like realloc. Functions with more parameters derive from it, and keep their arguments.
struct reallocation {
    void* (*run)(const reallocation& how, void* address, std::size_t size);
};
// Calls `how` and records the block that it returns, and the end of the one at `address`.
void* reallocate(void* address, std::size_t size, const void* frame, const reallocation& how);

}    // namespace headroom::profile
