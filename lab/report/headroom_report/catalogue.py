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
)

# The documents' other experiments, for which the lab has claims but whose results this report shows in tables alone.
OTHERS: dict[str, str] = {
    "make-shared": "Vector reallocation strategies",
    "push-back": "A fast vector with mremap",
    "simulation": "A fast vector with mremap",
    "pressure": "A fast vector with mremap",
    "reset-words": "A fast vector with mremap",
    "data-structures": "P0089R0, Benchmark I",
    "locality": "P0089R0, Benchmark II",
    "utilization": "P0089R0, Benchmark III",
    "contention": "P0089R0, Benchmark IV",
}


def by_id(name: str) -> Experiment | None:
    return next((experiment for experiment in EXPERIMENTS if experiment.id == name), None)
