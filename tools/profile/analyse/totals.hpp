// SPDX-License-Identifier: MIT
// Totals of a trace: for each call stack that allocated, how much, how often it grew, how long its blocks lived.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace headroom::profile {

// Pairs of an old block and a larger new one, by how strong the evidence is that the contents went over.
enum class growth_class : unsigned {
    same_bytes,    // nothing lay between, and both began with the same bytes
    doubled,       // nothing lay between, and the new one is exactly twice as large (or half as large again), as vectors
                   // grow
    adjacent,      // nothing lay between
    same_stack,    // something lay between, but both came from one call stack
    moved,         // realloc, to another address
    in_place,      // realloc, at the same address: nothing was copied
    count
};

struct growth_sum {
    double count = 0;
    double bytes = 0;    // of the old blocks: what was copied
    double ns = 0;       // of processor time, where the trace knows it
    std::uint64_t longest_ns = 0;
    double interrupted = 0;    // how many took much longer than that, since the processor did something else meanwhile
    double room_bytes = 0;     // of the new blocks: an upper bound for what was used

    growth_sum& operator+=(const growth_sum& other);
};

struct block_sizes {
    std::map<std::uint64_t, double> counts;    // at most 256 different ones, then by powers of two
    void add(std::uint64_t size, double weight);
    void merge(const block_sizes& other);
};

// All of one call stack of one process. Numbers are doubles, for in a sampled recording each block stands for several.
struct stack_totals {
    double allocations = 0;
    double bytes = 0;
    double live = 0;
    double live_bytes = 0;
    double most_live = 0;
    double most_live_bytes = 0;
    double frees = 0;
    double frees_elsewhere = 0;
    double reshared = 0;    // allocations by another thread than the one before
    double near = 0;
    double far = 0;
    // Of its mallocs and frees some were timed: how many, and what they took in the allocator.
    double timed_mallocs = 0;
    double timed_malloc_ns = 0;
    double timed_frees = 0;
    double timed_free_ns = 0;
    std::array<double, 64> lifetimes{};
    block_sizes sizes;
    std::map<std::uint32_t, double> threads;    // those that allocated here
    std::array<growth_sum, static_cast<std::size_t>(growth_class::count)> growth{};
    // Arrays whose last block came from this stack, and had grown.
    double arrays = 0;
    double arrays_growths = 0;
    double slack_bound = 0;    // bytes: what their last growth added, of which one element at least was used
    double final_bytes = 0;
    double alive_at_end = 0;
    std::uint64_t largest_final = 0;
    block_sizes final_sizes;
    std::uint32_t last_thread = 0;
    // Seconds from the beginning: the first and the last block that was allocated, and the last that was freed.
    double first_birth = 1e300;
    double last_birth = 0;
    double last_death = 0;

    void merge(const stack_totals& other);
};

struct code_module {
    std::uint32_t generation = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t bias = 0;
    std::string path;
};

struct moment {
    double seconds = 0;
    double live_bytes = 0;
    double copied = 0;         // so far, all classes of growth but in_place
    double allocations = 0;    // so far
};

struct source_frame {
    std::string function;    // demangled; empty where nothing is known
    std::string file;
    int line = 0;
    std::string module;    // path of the program or library
    bool inlined = false;
};

struct process_totals {
    std::uint32_t number = 0;    // in the trace
    std::uint32_t pid = 0;
    std::uint32_t parent = 0;
    std::uint64_t sample = 0;
    std::string path;
    std::string command_line;
    double seconds = 0;
    std::uint64_t lost = 0;
    std::vector<code_module> modules;
    struct call_stack {
        std::uint32_t generation = 0;
        std::vector<std::uint64_t> frames;
        std::vector<std::string> names;    // of an imported trace, which has names already: "function\tfile:line" each
    };
    std::unordered_map<std::uint32_t, call_stack> stacks;
    std::unordered_map<std::uint32_t, stack_totals> totals;
    // By generation and return address: what the trace itself says about it.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<source_frame>> names;
    std::vector<moment> times;
    double live_bytes = 0;
    double held_bytes = 0;    // by Headroom's ranges, as it was looked at now and then
    double peak_held = 0;
    double peak_bytes = 0;    // both together
    double allocations = 0;
    double frees = 0;
    double bytes = 0;
    // Known once the program has ended; 0 until then.
    double processor_seconds = 0;
    double recorder_seconds = 0;    // of them, that recording took
    double malloc_ns = 0;
    double free_ns = 0;
    double resident = 0;          // bytes, at most, without what recording took
    double anonymous = 0;         // bytes of anonymous memory resident, at most, without what recording took; 0: not known
    double static_bytes = 0;      // of the program's global variables
    bool own_new = false;         // the program's operator new comes before the recorder's
    bool other_malloc = false;    // its malloc is not the C library's
    bool complete = false;        // its end is in the trace
    std::vector<std::string> notes;
    std::vector<std::string> unseen;    // why something is missing from what was recorded
};

struct trace_totals {
    std::string source;    // the file
    std::vector<process_totals> processes;
    std::string damage;                 // what was wrong with the end of the file
    std::vector<std::string> unseen;    // why the file lacks something, where that is known beside it
};

// Keeps `times` short enough to draw: every second moment goes when there are too many.
void add_moment(std::vector<moment>& times, const moment& one);

// Which class a pair of blocks belongs to.
growth_class classify(std::uint32_t grew_flags, std::uint64_t old_size, std::uint64_t new_size);

}    // namespace headroom::profile
