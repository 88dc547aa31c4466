// SPDX-License-Identifier: MIT
// The trace file: what stands in it. docs/reference/trace-format.md says how to read it.
//
// A file begins with `file_head`. Blocks follow, each a `block_head` and its bytes, and each of one process; a block
// that was cut off, or whose checksum is wrong, ends what can be read. A block's bytes are `columns` times: raw size,
// stored size (32 bits each), and a zstd frame. The first column has a byte for each record, which says what it is;
// what belongs to the record is taken from the others, in the order named below. Things of one kind lie together
// because they compress better so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headroom::profile {

inline constexpr char trace_magic[8] = {'H', 'R', 'T', 'R', 'A', 'C', 'E', '\n'};
inline constexpr std::uint32_t trace_version =
    4;    // 3 had no record above 22, 2 none above 21, and 1 none above 19 and elapsed time for growths
inline constexpr std::uint32_t block_magic = 0x31425248;    // HRB1

struct file_head {
    char magic[8];
    std::uint32_t version;
    std::uint32_t reserved;
};

struct block_head {
    std::uint32_t magic;
    std::uint32_t process;    // which process of this file the block belongs to, from 0
    std::uint32_t raw_size;
    std::uint32_t stored_size;
    std::uint32_t checksum;    // CRC-32 of the stored bytes
};

enum class column : unsigned {
    records,
    blocks_low,     // the kind of a block (info), modulo 256
    blocks_high,    // the same, divided by 256: a number
    lifetimes,      // a byte each: the base-2 logarithm of the nanoseconds
    numbers,        // everything else: numbers of seven bits a byte (LEB128), and texts (length, bytes)
    count
};
inline constexpr std::size_t columns = static_cast<std::size_t>(column::count);

enum class record : std::uint8_t {
    process = 1,      // pid, parent's pid, sample, seconds since 1970, path, command line (texts: length, bytes)
    tick = 2,         // microseconds since the last one
    thread = 3,       // what follows was done by this thread
    info = 4,         // stack, size: numbered in the order they come, from 0; blocks are named by it
    stack = 5,        // number, generation, how many, return addresses (each as its zigzag difference from the one before)
    module = 6,       // generation, first address, end, bias, path
    allocated = 7,    // info
    grew = 8,         // old info, new info, grew_flags, nanoseconds: the old block was freed, its contents being in the new one
    died = 9,         // info, how often it had grown, size before the last time, lifetime: the end of a block that had grown
    nearness = 10,    // stack, blocks within a page of the one before, others
    lost = 11,        // events that were not completed
    ended = 12,       // microseconds the process ran
    resized = 13,     // old info, new info: a realloc that made it no larger
    alive = 14,       // as died, of a block that was never freed
    text = 15,        // a note for the reader of the profile
    freed = 16,       // info, lifetime: by the thread that allocated it
    freed_elsewhere = 17,    // info, lifetime: by another thread
    names = 19,              // generation, return address, how many functions are there (innermost first), for each: name, file,
                             // line, path of its program or library, 1 if it was inlined
    freed_last = 18,         // lifetime: of what the last `allocated` was about, by the thread that allocated it
    costs =
        20,    // nanoseconds: of processor time that the process used (0: not known), and what the recorder took of it; picoseconds:
               // a malloc, a free, on the average; bytes resident at most, without the recorder's (0: not known)
    held = 21,      // bytes that Headroom's ranges hold now: of committed memory
    unseen = 23,    // a reason why something is missing from what was recorded of the process: a text
    program =
        24,    // bytes of anonymous memory resident at most, without the recorder's (0: not known); bytes of the program's global
               // variables; program_flags of recorder/ring.hpp
    call_times =
        22    // stack; how many of its mallocs were timed, and the nanoseconds that they took in all; then those two of its frees
};

enum grew_flags : std::uint32_t {
    grew_same_bytes = 3,    // same_bytes of recorder/ring.hpp
    grew_adjacent = 4,      // the thread allocated and freed nothing between
    grew_same_stack = 8,    // old and new were allocated by the same call stack
    grew_by_realloc = 16,
    grew_in_place = 32,
    grew_processor_time = 128,    // the nanoseconds are the thread's processor time
    grew_interrupted =
        256,                 // it took much longer than the program used a processor for it: estimated, if there is no such time
    grew_old_unknown = 64    // a sampled recording that did not keep the old block; its size is what the allocator says
};

// Stands for a stack that is not known.
inline constexpr std::uint32_t no_stack = 0xffffffff;

}    // namespace headroom::profile
