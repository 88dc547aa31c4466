// SPDX-License-Identifier: MIT
// Numbers for call stacks: each is followed, and written into the ring when it is met for the first time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "preload/refusal.hpp"
#include "ring.hpp"

namespace headroom::profile {

// How often a library has been unloaded: an address may mean something else afterwards.
extern constinit std::atomic<std::uint32_t> generation;

// Memory for the numbers, unless it is there. False when the system refuses it.
bool set_up_stacks();

// In a child after fork: it has written no stack yet.
void forget_stacks();

// The number of the stack of a function's caller, from its __builtin_frame_address(0). Not to be called from a signal handler
// that interrupted it.
std::uint32_t stack_from(const void* frame);

// Returns whole pages of zeros, from the system; null if it refuses.
void* pages(std::size_t bytes);

// Writes that the program at `path`, which is about to be run, is not recorded.
void put_refused(refusal why, const char* path);
// Writes that this program is not recorded.
void put_refused_here(refusal why);

// Writes a head, and what follows in slots of three words. Defined by recorder.cpp.
void put_long(event what, std::uint32_t stack, const std::uint64_t (&head)[3], const std::uint64_t* words, std::size_t count);

}    // namespace headroom::profile
