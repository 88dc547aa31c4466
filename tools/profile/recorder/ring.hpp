// SPDX-License-Identifier: MIT
// The ring of slots in memory that a recorded process shares with the command.
//
// The recorder (in the program) writes, `headroom profile` reads. A slot is reserved with one atomic addition, which
// gives all events of a process one order, and is complete once its first word carries the number of the round. What
// the process wrote before it was killed is therefore there to be read, and a slot that it was writing at that moment
// is seen to be incomplete.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headroom::profile {

// The recorder finds the command's socket, and what it is to do, in these environment variables.
inline constexpr const char* socket_variable = "HEADROOM_PROFILE_SOCKET";
inline constexpr const char* sample_variable = "HEADROOM_PROFILE_SAMPLE";

inline constexpr std::uint32_t ring_version = 5;
inline constexpr std::uint64_t ring_slots = std::uint64_t{1} << 17;    // 4 MiB
// The command sends this word along with the ring's file, so that a recorder of another build does not write what it cannot read.
inline constexpr std::uint64_t ring_layout = std::uint64_t{ring_version} << 32 | ring_slots;
inline constexpr std::size_t most_frames = 64;
// From this size on, events include the thread's processor time. Its system call costs little beside the copy.
inline constexpr std::size_t large_block = 65536;
// One call in 61 is timed: malloc or free, and the recorder around it.
inline constexpr std::uint32_t timed_calls = 61;

enum class event : std::uint32_t {
    none = 0,
    allocated = 1,    // words: address, size, ticks. Written after the allocator returned
    freed = 2,        // words: address, same_bytes | usable size << 8, ticks. Written before the allocator has it
    moving = 3,       // words: address, usable size or 0, ticks. A realloc of this block begins
    moved = 4,        // words: address or 0 (refused), size or 0 (it was a free), ticks
    stack = 5,        // words: number of frames, generation, 0; then `more` slots, three return addresses each
    more = 6,
    module = 7,        // words: first address, end, bias; `stack` holds the length of the path; then `more` slots, 24 bytes each
    free_ended = 8,    // words: the thread's processor time in ns, 0, ticks. Its last free, of a large block, is done
    processor_time = 9,    // words: the thread's, in ns; 0 after it allocated a large block, 1 before a realloc, 2 after it
    call_time = 10,        // words: ticks that the call just told of took in the allocator; 0 for a malloc, 1 for a free
    refused = 11,          // words: refusal, 0, 0; `stack` holds the length of the path; then `more` slots, 24 bytes each
    program = 12           // words: program_flags, 0, 0
};

// Properties of a program that decide what of it is seen.
enum program_flags : std::uint32_t {
    program_own_new = 1,         // its operator new comes before the recorder's
    program_other_malloc = 2,    // its malloc is not the C library's
};

// Comparison of a freed block's first bytes with those of the block that its thread allocated last: equal ones suggest a copy.
enum class same_bytes : std::uint32_t { unknown = 0, different = 1, all_zero = 2, same = 3 };

// First word of a slot: round (8 bits), event (4), thread (20), stack (32).
struct slot {
    std::atomic<std::uint64_t> head;
    std::uint64_t words[3];
};
static_assert(sizeof(slot) == 32);

constexpr std::uint64_t slot_head(std::uint64_t index, event what, std::uint32_t thread, std::uint32_t stack) {
    return ((index / ring_slots + 1) & 0xff) << 56 | std::uint64_t{static_cast<std::uint32_t>(what)} << 52 |
           std::uint64_t{thread & 0xfffffU} << 32 | stack;
}
constexpr bool is_complete(std::uint64_t head, std::uint64_t index) { return head >> 56 == ((index / ring_slots + 1) & 0xff); }
constexpr event event_of(std::uint64_t head) { return static_cast<event>(head >> 52 & 0xf); }
constexpr std::uint32_t thread_of(std::uint64_t head) { return static_cast<std::uint32_t>(head >> 32 & 0xfffff); }
constexpr std::uint32_t stack_of(std::uint64_t head) { return static_cast<std::uint32_t>(head); }

// What timed calls took, all together.
struct call_costs {
    std::atomic<std::uint64_t> count;
    std::atomic<std::uint64_t> ticks;
    std::atomic<std::uint64_t> recorder_ticks;
};

struct ring {
    std::uint32_t version;
    std::uint32_t pid;
    std::uint64_t sample;         // mean number of bytes between samples; 0: everything is recorded
    std::uint64_t start_ticks;    // the counter that stamps events, and the monotonic clock in ns, read together
    std::uint64_t start_ns;

    alignas(64) std::atomic<std::uint64_t> reserved;    // slots reserved by the process since it began
    alignas(64) std::atomic<std::uint64_t> read;        // slots given back by the reader
    alignas(64) std::atomic<std::uint32_t> closed;      // set by the reader: record no more
    call_costs mallocs;                                 // and what else gives a new block
    call_costs reallocs;
    call_costs frees;
    alignas(4096) slot slots[ring_slots];
};

}    // namespace headroom::profile
