# SPDX-License-Identifier: MIT
from headroom_report.results.strategies import GLOBAL, SHARED_POOL
from headroom_report.verdicts.claims import promise

@promise("A block that one thread allocates and another gives back through one synchronized multipool takes at most a quarter of the global allocator's time.",
         "≤ 0.25")
def crossing(cells):
    return cells.ratio("time", SHARED_POOL, GLOBAL) <= 0.25

@promise("Where blocks cross threads, the peak of memory is about the global allocator's.", "≤ 1.06")
def crossing_memory(cells):
    return cells.ratio("peak_resident", SHARED_POOL, GLOBAL) <= 1.06
