// The call stack of the running thread, fast enough to be taken at every allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headroom::profile {

// Where unwinding starts: a function's caller, taken from its own frame pointer.
struct frame_start {
    std::uintptr_t pc;    // return address
    std::uintptr_t sp;    // stack pointer after the return
    std::uintptr_t fp;    // the caller's frame pointer register
};

// Of a function that called __builtin_frame_address(0), which makes the compiler set up a frame pointer.
inline frame_start caller_of(const void* frame) {
    const auto* const words = static_cast<const std::uintptr_t*>(frame);
    return {words[1], reinterpret_cast<std::uintptr_t>(words + 2), words[0]};
}

// Writes at most `most` return addresses, innermost first; returns how many. Takes no lock but the dynamic loader's,
// and that only for addresses not seen before; allocates nothing.
std::size_t unwind(frame_start from, std::uintptr_t* frames, std::size_t most);

// Forgets what is known about code, as after a library was unloaded: another may lie at its address.
void forget_code();

// Told of each piece of code (a program or a library) when unwinding first meets it. Defined by recorder.cpp.
void code_found(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t bias, const char* path);

// Whole pages of zeros, from the system; null when it refuses.
void* pages(std::size_t bytes);

}    // namespace headroom::profile
