from headroom_report.results.strategies import GLOBAL, SHARED_POOL
from headroom_report.verdicts.claims import best, promise

@promise("A block that one thread allocates and another gives back through one synchronized multipool, against the best of the others",
         "≤ 1.0×")
def crossing(cells):
    return cells.ratio("time", SHARED_POOL, best()) <= 1.0

@promise("Peak of resident memory where blocks cross threads, against std::allocator's", "≤ 1.05×")
def crossing_memory(cells):
    return cells.ratio("peak_resident", SHARED_POOL, GLOBAL) <= 1.05
