// What a process tells others of its ranges, without being stopped or asked: where the list of control blocks begins, and
// what stands where in one. Read by `headroom maps`; docs/reference/published-table.md describes it for other readers.
//
// A reader knows the place of the table by a note in the module that Headroom was linked into. It reads the blocks where they
// are: nothing is written for it, so being readable costs a program nothing.
#pragma once

#include <cstdint>

namespace headroom { inline namespace v0_1 { namespace detail {

// What stands in a control block, in the order of published_table::places.
enum class published_field : std::uint32_t {
    version,      // odd while base, reserved and label are being changed
    state,        // 0 not in use, 1 live, 2 in the warm cache
    base,         // an address of the process
    reserved,     // bytes
    label,        // text, with zeros behind it
    committed,    // bytes from base
    memory,       // bytes from base that may have memory behind them
    hits,         // how often it was handed out warm: with base and version it tells one life of a range from the next
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

// The table's head: the same in every format. `Block*` follows the places.
struct published_head {
    char magic[16];
    std::uint32_t format;           // of all that follows; what is added to a format is added at the end
    std::uint32_t byte_order;       // published_byte_order, as the process writes it
    std::uint32_t pointer_bytes;    // 4 or 8
    std::uint32_t block_bytes;      // the size of a control block
    char library[16];               // the version of Headroom, as its namespace has it
    std::uint32_t table_bytes;      // the whole table
    std::uint32_t fields;           // how many places follow
};

// The note: its name, its type, and what it holds: the distance from there to the table, a signed number of 64 bits (of 32
// bits in a program of 32).
inline constexpr char published_note_name[] = "Headroom";
inline constexpr std::uint32_t published_note_type = 1;

}}}    // namespace headroom::detail
