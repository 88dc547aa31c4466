"""What each experiment asks, which measures count in it, and how it is shown. The order is the page's."""

from __future__ import annotations

from dataclasses import dataclass

# Growth policies take part in `growth` as arithmetic: they are no containers, and win or lose nothing.
ARITHMETIC = frozenset(
    {
        "headroom::geometric<2,1>",
        "headroom::geometric<3,2>",
        "headroom::linear<64 KiB>",
        "headroom::page_rounded<geometric<3,2>>",
    }
)


YARDSTICK = "std::vector"
DEFAULT = "headroom::settled_vector"
PAGE_BY_PAGE = "headroom::settled_vector/page_by_page"  # plays the part of the documents' DynArray


@dataclass(frozen=True)
class Contest:
    """A measure that contenders are compared by; less is better."""

    metric: str
    title: str
    least_elements: int = 0  # counts only from so many elements: one in a million says nothing of a thousand

    def speaks_of(self, parameters: dict[str, object]) -> bool:
        """Whether it counts in a cell with these parameters."""
        elements = parameters.get("elements")
        return not self.least_elements or (isinstance(elements, int) and elements >= self.least_elements)


@dataclass(frozen=True)
class Experiment:
    id: str
    title: str
    question: str
    document: str
    method: str
    limits: str = ""
    contests: tuple[Contest, ...] = ()
    more: tuple[Contest, ...] = ()  # shown in tables, not counted
    reading: str = ""  # how to read the picture
    yardstick: str = YARDSTICK  # the contender that figures are divided by


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "throughput",
        "Throughput",
        "How long does it take to append n elements to an empty vector whose final size is not known?",
        "Reserve and commit",
        "Every array is built in a process of its own, from an empty vector without reserve(), and timed on the clock from "
        "before the vector is made until after the last append. Contenders take turns, round by round. Up to 10⁴ elements "
        "the same is also measured again and again in one process. A “warm” process has built and dropped one such "
        "vector before.",
        "One pattern of use: nothing but appending. reserve() would help std::vector where the size is known. The document "
        "took processor time, on clocks of 1 µs to 16 ms; here it is time on the clock.",
        (Contest("time", "time to build"), Contest("time_steady", "time to build, again and again")),
        (Contest("destroy", "time to drop"), Contest("loop_cpu", "processor time of all threads")),
        "Time per element; lower is better. Both axes are logarithmic.",
    ),
    Experiment(
        "latency",
        "Latency",
        "How long does one append take: usually, and at worst?",
        "Reserve and commit",
        "Every single append is timed by the processor's cycle counter; what reading the counter costs is measured, "
        "subtracted, and stated. Every sample is kept, to three digits.",
        "The counter's fences hide what the processor would overlap, for all contenders alike. An append of up to some 50 µs "
        "may have been interrupted by the system's timer.",
        (
            Contest("append_max", "longest append"),
            Contest("append_p999999", "append at p99.9999", 1_000_000),
            Contest("append_p50", "median append"),
        ),
        (Contest("append_p99", "append at p99"), Contest("append_p9999", "append at p99.99")),
        "How many appends took how long; both axes are logarithmic. What lies far to the right are the stalls.",
    ),
    Experiment(
        "memory",
        "Memory",
        "How much memory does building an array take at its peak, when its size is not known?",
        "Reserve and commit",
        "The peak of resident memory of a process that builds one array of ints, less what the process held before the array "
        "was begun, divided by the bytes of its elements.",
        "Resident memory is what was touched: memory that a container asked for and never touched does not show here, though "
        "systems without overcommit charge for it.",
        (Contest("peak_resident", "peak resident memory"),),
        (Contest("unused", "capacity beyond the elements"),),
        "Bytes of memory at the peak for each byte of elements; 1 is perfect. Both axes are logarithmic.",
    ),
    Experiment(
        "one-growth",
        "One growth",
        "What does a vector cost that grows once, is read once, and is dropped, again and again in one process?",
        "4GB per Vector",
        "The whole life of the vector is timed, in a loop, in batches of at least a millisecond; the figure is the median "
        "batch. What a process can reuse from one vector to the next, heap blocks or warm reservations, takes part under its "
        "default settings.",
        "Ints only; the sizes are powers of two, which suits containers that double.",
        (Contest("time", "time of one life"),),
        (Contest("time_first", "the first life in the process"),),
        "Time divided by std::vector's; under the line is faster. Both axes are logarithmic.",
    ),
    Experiment(
        "growth",
        "Growth",
        "At which sizes does each vector grow, and what does growing move and waste?",
        "Vector reallocation strategies",
        "1,000,000 ints are pushed; each change of capacity and each change of address is noted. Counts, not times.",
        "The growth policies are arithmetic without memory; they show the sequences that a vector using them would have.",
        (Contest("bytes_moved", "bytes moved"), Contest("unused_most", "unused memory at its most")),
        (
            Contest("growths", "growths"),
            Contest("address_changes", "changes of address"),
            Contest("unused", "unused at the end"),
        ),
        "Each mark is a growth, at the number of elements the vector then held.",
    ),
    Experiment(
        "commit-cost",
        "Commit cost",
        "How long does each system call take that growing in place makes?",
        "Reserve and commit",
        "Each call is timed by the cycle counter, 50 to 20,000 times, on ordinary pages that were not used before.",
        "Pages that the system has just taken back are handed out first, so the processor's caches are warmer here than in a "
        "long-lived program.",
        (),
        (Contest("call_p50", "median call"), Contest("call_p99", "p99"), Contest("call_max", "longest call")),
        "Time per page; both axes are logarithmic. A flat line means that every page costs the same; a falling one, that the "
        "call itself does.",
    ),
    Experiment(
        "instructions",
        "Instructions",
        "How many instructions does an append take in the common case?",
        "Headroom's own",
        "Instructions are counted, not timed: an append that does not grow.",
        "Fewer instructions are not always less time.",
        (Contest("instructions", "instructions"),),
        (),
        "Lower is better.",
    ),
    Experiment(
        "compile-time",
        "Compile time",
        "How long does a file take to compile that includes a container and appends to one?",
        "Headroom's own",
        "The compiler that built the lab compiles a file of six lines at -O2, seven times after one that warms the file cache; "
        "processor time counts.",
        "Whoever brings more than its own container pays for what a file may be glad of.",
        (Contest("time", "time to compile"),),
        (),
        "Lower is better.",
    ),
    Experiment(
        "push-back",
        "Push back",
        "How long does it take to build a vector of n elements by push_back, at every size?",
        "A fast vector with mremap",
        "A vector's whole life is timed: made empty, filled one by one, destroyed. Up to 10⁵ elements a process makes many "
        "in a row and the median batch counts; above, it is the first vector of a fresh process.",
        "At small sizes nobody's system calls are amortised; at large ones whoever copies pays for it. The thesis's own "
        "vector is measured only where its source is given; headroom::vector/heap (realloc, which moves large blocks by page "
        "tables) plays by its policy.",
        (Contest("time", "time of a vector's life"),),
        (Contest("append", "time to fill it"), Contest("time_first", "the first life in the process")),
        "Time per element; lower is better. Both axes are logarithmic.",
    ),
    Experiment(
        "simulation",
        "Simulation",
        "How do vectors fare in a program that does everything with them, with many of them alive at once?",
        "A fast vector with mremap",
        "A vector of vectors is kept for each element type. Every iteration does one of six actions, drawn at random with "
        "the thesis's seeds: construct, push_back, pop_back, copy, insert, erase. Each action is timed; the vector of vectors "
        "is of the kind under test too.",
        "Vectors that ask the system for memory when they are made or copied pay for it here: most vectors are small when they "
        "begin. Nothing else is allocated, which is kinder to memory than real programs are.",
        (
            Contest("time", "all actions"),
            Contest("push_back", "push_back"),
            Contest("construct", "construct"),
            Contest("copy", "copy"),
            Contest("insert", "insert"),
            Contest("erase", "erase"),
            Contest("pop_back", "pop_back"),
        ),
        (),
        "Seconds in each action, stacked; shorter is better. Each element type has its own scale.",
    ),
    Experiment(
        "pressure",
        "Short memory",
        "How do vectors fare in a program whose memory does not fit, with swap behind it?",
        "A fast vector with mremap",
        "The simulation with three element types, in a control group that may have 8/11 of the memory that std::vector needs for "
        "it (the thesis: 8 GB for 11), with a swap file for the rest. Where the system does not allow that, it is not run.",
        "How fast the disk is decides by how much vectors differ: a fast one hides much of what the thesis saw. All have the same "
        "limit, so who needs less is short of less.",
        (Contest("time", "all actions"), Contest("push_back", "push_back")),
        (Contest("disk_faults", "faults that read from the disk"), Contest("copy", "copy"), Contest("insert", "insert")),
        "Seconds in each action, stacked; shorter is better.",
    ),
    Experiment(
        "reset-words",
        "Reset words",
        "What does a change of vector gain a real program?",
        "A fast vector with mremap",
        "The program searches for the shortest word that takes an automaton from every state to the same one, for random "
        "binary automata. Its vectors are a template parameter; what is searched, and how much of it, is the same for all, "
        "and every word is checked.",
        "The thesis's program is not public; this one is after the same paper. Most of its time goes into comparing sets, so a "
        "vector can gain only what growing costs.",
        (Contest("time", "time of all searches"),),
        (Contest("loop_cpu", "processor time"),),
        "Time divided by std::vector's; under 1 is faster.",
    ),
    Experiment(
        "make-shared",
        "Shared objects",
        "What does an object cost that is shared: by shared_ptr(new …), make_shared, or allocate_shared on a memory resource?",
        "Vector reallocation strategies",
        "100,000 shared ints are made and kept, then dropped; the figure is the time for one. A memory resource is kept from "
        "round to round and told when a round is over. Allocations are counted in a pass of their own.",
        "Nothing else is allocated meanwhile, so the global allocator finds the best of all heaps.",
        (Contest("time", "time for one object"),),
        (Contest("allocations", "allocations for all objects"),),
        "Time to make and drop one object; shorter is better.",
        "std::shared_ptr(new)",
    ),
    Experiment(
        "data-structures",
        "Data structures",
        "Which allocation strategy builds and destroys containers, and containers of containers, fastest?",
        "P0089R0, Benchmark I",
        "Each of the paper's twelve data structures is built, every leaf is written once through a pointer to volatile, and the "
        "whole is destroyed or winked out (forgotten, and its memory taken back at once), again and again. The time is that "
        "of one leaf. Random numbers are drawn before the clock starts. An allocator is kept from round to round and told when "
        "one is over; what that costs is inside the figure. The first round is timed apart.",
        "Allocators that fetch their memory anew for each round pay for fresh pages each time; those called /buffer were given "
        "enough warm memory beforehand, which no program can know. floor is a bound on what can be had, and no allocator to use.",
        (Contest("time", "time of a leaf"),),
        (Contest("time_first", "time of a leaf in the first round"), Contest("page_faults", "page faults")),
        "A cell is the time of a leaf divided by that under std::allocator (AS1) in the same row: blue is faster, red is slower. "
        "AS2 is new and delete behind an abstract base; of each strategy's implementations the best of Headroom's, and the best of "
        "the others', is shown. AS3–6 monotonic, AS7–10 multipool, AS11–14 multipool over monotonic; in each group: bound at "
        "compile time, the same winked out, through an abstract base, the same winked out.",
        "std::allocator AS1",
    ),
    Experiment(
        "locality",
        "Locality",
        "How much slower is data read once its memory has been shuffled, and does a local allocator help?",
        "P0089R0, Benchmark II",
        "A system of linked lists is read before and after its links were popped from one list and pushed to another, sf times "
        "over. Each list is read af times before the next one is turned to, and all of that is repeated rf times. Only the "
        "reading is timed; counts have 64 bits. Each list has its own allocator where it has one.",
        "Allocators whose smallest unit is large are at a disadvantage where lists are tiny.",
        (Contest("time", "time of an access after shuffling"), Contest("degradation", "time after ÷ time before")),
        (Contest("time_before", "time of an access before"), Contest("time_shuffle", "time of a shuffled link")),
        "A cell is the time of an access after shuffling divided by the time before: pale is no slower, dark is much slower.",
        "std::allocator AS1",
    ),
    Experiment(
        "utilization",
        "Utilization",
        "What does an allocator cost a program that allocates much in all, but uses little of it at once?",
        "P0089R0, Benchmark III",
        "Blocks of S bytes are allocated until A bytes are in use; then the oldest is given back and another allocated, until "
        "T bytes have been allocated in all. The time is that of one allocation with its deallocation; the first byte of each "
        "block is written.",
        "Monotonic resources never use a block again and need T bytes: that is the document's point.",
        (Contest("time", "time of an allocation and its deallocation"),),
        (Contest("loop_cpu", "processor time"),),
        "Time of a pair over the size of a block; both axes are logarithmic. From 8 KiB up, blocks pass through most multipools.",
        "std::allocator AS1",
    ),
    Experiment(
        "contention",
        "Contention",
        "What do threads cost each other that allocate and give back at the same time?",
        "P0089R0, Benchmark IV",
        "Each of W threads allocates and gives back a block N times, from a resource of its own or from one that all share. The "
        "time is processor time of one pair, so that more threads than processors do not look like contention.",
        "Monotonic resources never use a block again. This machine's number of processors limits what W can show.",
        (Contest("time", "processor time of a pair"),),
        (Contest("time_elapsed", "elapsed time of a thread's pair"),),
        "Processor time of an allocation with its deallocation over the number of threads; lower is better.",
        "std::allocator AS1",
    ),
    Experiment(
        "pair-instructions",
        "Instructions of an allocation",
        "How many instructions does an allocation take, with the deallocation of its block?",
        "Headroom's own",
        "Instructions are counted, not timed: sixteen blocks are in use, the oldest is given back and another allocated, bound "
        "at compile time; the size of a block is known to the compiler, or not.",
        "Fewer instructions are not always less time: one that waits for memory costs a hundred others.",
        (Contest("instructions", "instructions"),),
        (),
        "Lower is better.",
        "std::allocator AS1",
    ),
)

# The documents' experiments that are still to be built: claims there may be, results not yet.
OTHERS: dict[str, str] = {}

# Experiments whose contenders are implementations under P0089R0's strategies.
BY_STRATEGY = frozenset({"data-structures", "locality", "utilization", "contention", "pair-instructions"})


def yardstick(experiment: str) -> str:
    found = by_id(experiment)
    return found.yardstick if found else YARDSTICK


def by_id(name: str) -> Experiment | None:
    return next((experiment for experiment in EXPERIMENTS if experiment.id == name), None)
