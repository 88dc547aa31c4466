// Reads how to leave a function from its call frame information (.eh_frame), the table that exceptions are unwound by.
//
// It says for each instruction where the caller's stack pointer, frame pointer and return address are found. Only that
// much is read: exceptions need more registers, a call stack does not.
#pragma once

#include <cstdint>

namespace headroom::profile {

// How to get from a frame to its caller. CFA is the caller's stack pointer.
struct frame_row {
    enum kind_t : std::uint8_t {
        unknown,         // nothing known: the stack ends here
        from_sp,         // CFA = stack pointer + offset
        from_fp,         // CFA = frame pointer + offset
        deref_fp,        // CFA = what lies at frame pointer + offset (functions that realign their stack)
        signal_frame,    // the kernel put all registers on the stack
        outermost        // there is no caller
    };
    enum saved_t : std::uint8_t { same, at_cfa, at_fp };

    kind_t kind = unknown;
    saved_t saved = same;    // where the caller's frame pointer is
    std::int16_t saved_offset = 0;
    std::int32_t offset = 0;
};
static_assert(sizeof(frame_row) == 8);

// The row for the instruction at `pc`, from the search table (.eh_frame_hdr) of the code it belongs to.
frame_row find_row(std::uintptr_t pc, const std::uint8_t* search_table);

}    // namespace headroom::profile
