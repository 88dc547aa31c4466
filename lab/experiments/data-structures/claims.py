# SPDX-License-Identifier: MIT
from headroom_report.results.documents import P0089R0
from headroom_report.results.strategies import GLOBAL, MONOTONIC, POOL
from headroom_report.verdicts.claims import best, claim, promise, span

MONOTONICS, POOLS, OVER = (
    [f"headroom::{name} AS{first + way}" for way in range(4)]
    for name, first in (("monotonic_resource", 3), ("multipool_resource", 7), ("multipool_resource over monotonic", 11))
)
KINDS = {"monotonic": MONOTONICS, "multipool": POOLS}
# They know beforehand how much they will take.
BUFFERED = ("std::pmr::monotonic_buffer_resource/buffer", "boost::container::pmr::monotonic_buffer_resource/buffer",
            "BloombergLP::bdlma::BufferedSequentialAllocator/buffer", "foonathan::memory_stack")


def clean(cells, **where):
    return cells(heap="clean", trimming=True, **where)


def measured(cells, **where):
    """At the sizes that promises speak of."""
    return clean(cells, size_exponent=span(6, 13), **where).wants(size_exponent=[6, 10])


def structures(first, last=12):
    return [f"DS{number}" for number in range(first, last + 1)]


@claim(P0089R0, "As printed: a multipool builds and destroys data structures at 4 to 20 times the speed of the global allocator.",
       "Benchmark I, 7.12, as printed", "4 to 20 times: 0.05 to 0.25× the time",
       note="In the printed tables 3 to 14 the columns of monotonic and multipool are swapped, and the global allocator ran on a "
            "scrambled heap. Where the document's own allocators are meant, Headroom's of the same kind play their part.")
def structures_multipool(cells):
    return clean(cells).ratio("time", POOL, GLOBAL).most() <= 0.25

@claim(P0089R0, "With the columns put right: a monotonic resource does so at 4 to 20 times the speed of the global allocator.",
       "Benchmark I, 7.12, columns swapped back", "4 to 20 times: 0.05 to 0.25× the time",
       note="The same sentence, said of the strategy that its figures belong to; the heap is clean for both here.")
def structures_multipool_corrected(cells):
    return clean(cells).ratio("time", MONOTONIC, GLOBAL).most() <= 0.25

@claim(P0089R0, "As printed: a monotonic resource alone gains much less, 20 to 100%.", "Benchmark I, 7.12, as printed",
       "20 to 100% faster: 0.5 to 0.83× the time", note="Read with the columns put right, this is said of the multipool.")
def structures_monotonic(cells):
    return clean(cells).ratio("time", MONOTONIC, GLOBAL).most().between(0.5, 0.83)

@claim(P0089R0, "With the columns put right: a multipool alone gains 20 to 100%.", "Benchmark I, 7.12, columns swapped back",
       "20 to 100% faster: 0.5 to 0.83× the time")
def structures_monotonic_corrected(cells):
    return clean(cells).ratio("time", POOL, GLOBAL).most().between(0.5, 0.83)

@claim(P0089R0, "Every local allocator is faster than the global one: {}.", "Benchmark I, 7.2 to 7.12", "always (DS2 to DS12)", each=KINDS)
def structures_always(cells, kind):
    return clean(cells, structure=structures(2)).ratio("time", KINDS[kind][0], GLOBAL) < 1

@claim(P0089R0, "A heap that was scrambled beforehand, as the global allocator's was, takes several times as long as a clean one.",
       "Benchmark I: the authors' own later scripts and logs", "2 to 9 times, re-run on a clean heap by one of the authors",
       note="Not in the document, which does not say that its AS1 and AS2 alone ran on a scrambled heap.")
def structures_heap(cells):
    return cells(heap="scrambled", trimming=True).ratio("time", GLOBAL, GLOBAL, at={"heap": "clean"}) >= 2

@claim(P0089R0, "Winking out instead of destroying saves a further 1 to 45%: {}.", "Benchmark I, 7.3 to 7.12",
       "5 to 10% (DS3), 10 to 40% (DS12)", each=KINDS)
def structures_wink(cells, kind):
    return clean(cells, structure=structures(3)).ratio("time", KINDS[kind][1], KINDS[kind][0]).most() <= 0.99

@claim(P0089R0, "A plain vector of int is the exception: winking it out costs more than destroying it.", "Benchmark I, 7.1",
       "50 to 80% more time", note="The document itself takes it for an accident of code generation.")
def structures_wink_vector(cells):
    return clean(cells, structure="DS1").ratio("time", MONOTONICS[1], MONOTONIC).most() > 1.05

@claim(P0089R0, "Access through an abstract base is mostly 2 to 10% dearer than binding at compile time: {}.",
       "Benchmark I, 7.12", "2 to 10%", each=KINDS)
def structures_virtual(cells, kind):
    return clean(cells).ratio("time", KINDS[kind][2], KINDS[kind][0]).most().between(1.02, 1.1)

@promise("Data structures built in multipools, alone and over a monotonic, take about the time of the best other pool of the same kind in the mean.",
         "geometric mean ≤ 1.02")
def structures_pools(cells):
    return measured(cells).ratio("time", POOLS + OVER, best(alike=True)).mean() <= 1.02

@promise("In monotonic resources that grow by themselves they take about the best other's time in the mean, or less.",
         "geometric mean ≤ 1.02")
def structures_growing(cells):
    return measured(cells).ratio("time", MONOTONICS, best(alike=True, without=BUFFERED)).mean() <= 1.02

@promise("All three kinds, on containers of strings or of containers, take at most half of the global allocator's time in the mean.",
         "geometric mean ≤ 0.5")
def structures_global(cells):
    return measured(cells, structure=["DS2", *structures(4)]).ratio("time", MONOTONICS + POOLS + OVER, GLOBAL).mean() <= 0.5


@promise("Containers of containers that are winked out take less time than those that are destroyed, in the mean.",
         "geometric mean ≤ 0.95")
def structures_winked(cells):
    ways = [(one[way + 1], one[way]) for one in (MONOTONICS, POOLS, OVER) for way in (0, 2)]
    winked, destroyed = map(list, zip(*ways))
    return measured(cells, structure=structures(5)).ratio("time", winked, destroyed).mean() <= 0.95
