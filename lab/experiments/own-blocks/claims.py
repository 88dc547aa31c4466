# SPDX-License-Identifier: MIT
from headroom_report.results.strategies import GLOBAL, SHARED_POOL
from headroom_report.verdicts.claims import promise

@promise("Two threads that share a synchronized multipool but not their blocks take less time than over the global allocator.", "≤ 0.95")
def own_blocks(cells):
    return cells(W=2).ratio("time", SHARED_POOL, GLOBAL) <= 0.95

@promise("Their peak of memory is about the global allocator's.", "≤ 1.05")
def own_blocks_memory(cells):
    return cells.ratio("peak_resident", SHARED_POOL, GLOBAL) <= 1.05
