// The call stack of the running thread, fast enough to be taken at every allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ring.hpp"

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

// A call stack, and what it was found by, so that the next one need not be followed where nothing has changed: from a
// frame that both have, all the rest is the same if the words in memory that led from there are.
struct call_stack {
    struct step {
        std::uintptr_t pc;
        std::uintptr_t sp;
        std::uintptr_t fp;
        std::uint64_t hash;         // of this return address and those further out
        std::int32_t next_fp_at;    // where the caller's frame pointer lay, from sp; -1: it was this frame's
        bool plain;                 // what leads to the caller is the word below its stack pointer, and what next_fp_at says
        bool uses_fp;               // to find the caller
        bool fp_matters;            // here or further out. Code without frame pointers keeps other things in that register
    };
    step steps[most_frames];    // the outermost is the last, the innermost at first()
    step fresh[most_frames];    // where unwind() keeps what it finds, innermost first
    std::size_t depth = 0;      // (everything begins as zero, so that a table of these takes no room in the library's file)
    enum class end_t : std::uint8_t { unsure, outermost, cut_off } end = end_t::unsure;    // cut off after most_frames
    [[nodiscard]] std::size_t first() const { return most_frames - depth; }
};

inline std::uintptr_t word_at(std::uintptr_t address) {
    std::uintptr_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
}

// True if step `at` of the earlier stack is the frame `from`, reached after `count` calls.
inline bool resumes(const call_stack& stack, std::size_t at, const frame_start& from, std::size_t count) {
    const call_stack::step& there = stack.steps[at];
    if (there.pc != from.pc || there.sp != from.sp || (there.fp_matters && there.fp != from.fp)) return false;
    return stack.end == call_stack::end_t::outermost ? count <= at
                                                     : stack.end == call_stack::end_t::cut_off && count + stack.first() == at;
}

// True if the return addresses and frame pointers in memory from step `at` outwards are unchanged. If not, `checked` is the first
// step whose words differ.
inline bool unchanged(const call_stack& stack, std::size_t at, std::size_t& checked) {
    for (; at + 1 < most_frames; ++at) {
        const call_stack::step& here = stack.steps[at];
        const call_stack::step& caller = stack.steps[at + 1];
        const std::uintptr_t fp_at = here.sp + static_cast<std::uintptr_t>(std::intptr_t{here.next_fp_at});
        if (!here.plain || word_at(caller.sp - 8) != caller.pc ||
            (caller.fp_matters && here.next_fp_at >= 0 && word_at(fp_at) != caller.fp)) {
            checked = at + 1;
            return false;
        }
    }
    return true;
}

// True if the stack from `from` equals `stack` frame by frame, as in a loop that allocates. Changes neither.
inline bool is_as_before(const frame_start& from, const call_stack& stack) {
    std::size_t checked = 0;
    return stack.depth != 0 && resumes(stack, stack.first(), from, 0) && unchanged(stack, stack.first(), checked);
}

// Follows the stack from `from`; `stack` is another one before, of any thread, or empty. Returns the stack's hash. Takes no
// lock but the dynamic loader's, and that only for addresses not seen before; allocates nothing.
std::uint64_t unwind(frame_start from, call_stack& stack);

// The hash of a frame, from that of its caller (0 for the outermost).
inline std::uint64_t hash_of(std::uintptr_t pc, std::uint64_t outer) {
    const std::uint64_t mixed = (outer ^ pc) * 0x9e3779b97f4a7c15U;
    return mixed ^ mixed >> 29;
}

// Forgets what is known about code, as after a library was unloaded: another may lie at its address.
void forget_code();

// Told of each piece of code (a program or a library) when unwinding first meets it. Defined by stacks.cpp.
void code_found(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t bias, const char* path);

// Whole pages of zeros, from the system; null when it refuses.
void* pages(std::size_t bytes);

}    // namespace headroom::profile
