// SPDX-License-Identifier: MIT
// The layout in which a process publishes its ranges to other processes, which read it without stopping or asking it: where the list of
// control blocks begins, and the offsets of their fields. `headroom maps` reads it. See docs/reference/published-table.md. Readers find
// the table by a note in the module that contains Headroom, and read the blocks in place: this costs the program nothing.
#pragma once

#include <cstdint>

namespace headroom { inline namespace v0_1 { namespace detail {

// Fields of a control block, in the order of published_table::places.
enum class published_field : std::uint32_t {
    version,      // odd while base, reserved and label are being changed
    state,        // 0 not in use, 1 live, 2 kept
    base,         // an address of the process
    reserved,     // bytes
    label,        // text, with zeros behind it
    committed,    // bytes from base
    memory,       // bytes from base that may have memory behind them
    hits,         // how often it was taken from the kept ones: with base and version it tells one use of a range from the next
    access,       // 0 none, 1 read only, 2 read and write
    holding,      // 0 guarded, 1 open
    next          // the next block, or null
};
inline constexpr std::uint32_t published_fields = 11;

inline constexpr char published_magic[16] = "headroom-ranges";
inline constexpr std::uint32_t published_format = 1;
inline constexpr std::uint32_t published_byte_order = 0x01020304;

struct published_place {
    std::uint32_t offset;    // bytes from the start of the block
    std::uint32_t bytes;
};

// Head of the table, the same in every format. The places follow it, then `Block*`.
struct published_head {
    char magic[16];
    std::uint32_t format;           // of the fields that follow; new ones are added at the end
    std::uint32_t byte_order;       // published_byte_order, as the process writes it
    std::uint32_t pointer_bytes;    // 4 or 8
    std::uint32_t block_bytes;      // the size of a control block
    char library[16];               // the version of Headroom, as its namespace has it
    std::uint32_t table_bytes;      // the whole table
    std::uint32_t fields;           // number of places that follow
};

// Name and type of the note. It holds the distance from there to the table, a signed number of 64 bits (of 32 bits in a 32-bit program).
inline constexpr char published_note_name[] = "Headroom";
inline constexpr std::uint32_t published_note_type = 1;

}}}    // namespace headroom::detail
