// SPDX-License-Identifier: MIT
// The places of a program that allocate, each with what it cost: a source line and the container that allocated there.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "containers.hpp"
#include "totals.hpp"

namespace headroom::profile {

// P0089's five dimensions, of one site. Each is a number, and says whether it is high.
struct dimensions {
    double density = 0;        // allocations a millisecond of the run
    double variation = 0;      // bits: how uncertain the size of the next block is (entropy)
    double locality = 0;       // share of blocks that lie within a page of the one before
    double utilization = 0;    // most bytes alive at once / all bytes allocated
    double contention = 0;     // share of allocations that follow one by another thread, or are freed by another
};

struct stack_share {
    std::vector<std::string_view> frames;    // outermost first; of profile_result::names
    double copied = 0;
    double allocations = 0;
    double allocated = 0;
};

struct site {
    std::string function;    // of the program; or module and offset where there are no names
    std::string file;
    int line = 0;
    std::string container;
    std::string element;
    std::string adapter;      // "std::priority_queue<int>", if the container is inside one
    bool headroom = false;    // what allocates is Headroom's
    doing what = doing::unknown;
    stack_totals totals;
    growth_sum growth;    // what was recognised as growth, and copied
    growth_sum in_place;
    double element_size = 0;    // bytes: greatest common divisor of the sizes
    double seconds = 0;         // of processor time that the run took without its recording; of the run, where that is not known
    double allocation_ns = 30;    // what malloc and free of a block take together, as measured here, or on the average of the run
    dimensions five;
    std::vector<stack_share> stacks;

    [[nodiscard]] std::string place() const;    // "file.cpp:12", or the function where lines are unknown
};

struct profile_result {
    std::string source;
    std::string command_line;
    double seconds = 0;
    double processor_seconds = 0;    // of the program, without its recording; 0: not known
    double allocation_ns = 30;
    double allocations = 0;
    double frees = 0;
    double bytes = 0;
    double peak_bytes = 0;     // blocks, and what Headroom's ranges held
    double peak_held = 0;      // by Headroom's ranges
    double resident = 0;       // at most, as the system counts it; 0: not known
    double interrupted = 0;    // growths during which the processor did something else
    double copied = 0;
    double growing_ns = 0;
    double growths = 0;
    std::uint64_t sample = 0;
    unsigned processes = 0;
    bool other_malloc = false;         // the process that allocated most does not run over the C library's
    bool imported = false;             // from heaptrack: no times, no addresses
    std::vector<site> sites;           // the most bytes copied first, then the most allocations
    std::vector<moment> times;         // of the process that allocated most
    std::vector<std::string> notes;    // what the reader should know: lost events, missing names
    // Why this is a profile of a part: a trace without its end, memory that was not seen. With any there is no verdict.
    std::vector<std::string> unseen;
    std::shared_ptr<std::set<std::string, std::less<>>> names = std::make_shared<std::set<std::string, std::less<>>>();
};

// All texts of the result may be shown to a terminal, whatever the trace holds.
profile_result find_sites(const trace_totals& trace);

// True if pairs of this class are growth, given the operation that the call stack is known to perform. `has_names`: the program's
// own function has a name. `totals` has the other pairs of the stack.
bool counts_as_growth(growth_class kind, doing what, bool has_names, const stack_totals& totals);

// What malloc and free of these blocks take together: as measured of them, where there are enough, else as on the average.
double allocation_ns_of(const stack_totals& totals, double average);

dimensions five_dimensions(const stack_totals& totals, double seconds);

}    // namespace headroom::profile
