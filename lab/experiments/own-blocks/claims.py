from headroom_report.results.strategies import GLOBAL, SHARED_POOL
from headroom_report.verdicts.claims import best, promise

@promise("Two threads that share a synchronized multipool but not their blocks, against the best of the others", "≤ 1.0×")
def own_blocks(cells):
    return cells(W=2).ratio("time", SHARED_POOL, best()) <= 1.0

@promise("Peak of resident memory of threads that share a synchronized multipool but not their blocks, against std::allocator's",
         "≤ 1.05×")
def own_blocks_memory(cells):
    return cells.ratio("peak_resident", SHARED_POOL, GLOBAL) <= 1.05
