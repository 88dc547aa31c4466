# SPDX-License-Identifier: MIT
from headroom_report.results.documents import P0089R0
from headroom_report.results.strategies import GLOBAL, MONOTONIC, POOL, SHARED_POOL
from headroom_report.verdicts.claims import best, claim, least, promise

@claim(P0089R0, "A private multipool takes about a quarter of the global allocator's time, however many threads there are.",
       "Benchmark IV", "mostly 0.15 to 0.30×, 1 to 8 threads")
def contention_quarter(cells):
    return cells(sharing="private").wants(W=[1, 2, 4, 8]).ratio("time", POOL, GLOBAL).most() <= 0.33

@claim(P0089R0, "A private monotonic resource is a poor choice: it takes as long as the global allocator, or longer.", "Benchmark IV",
       "0.4 to 2.1×, growing with the memory taken")
def contention_monotonic(cells):
    return cells(sharing="private", S_exponent=least(7)).ratio("time", MONOTONIC, GLOBAL, failing=True).most() >= 0.9

@promise("With a multipool for each thread a pair of calls takes at most .22 of the global allocator's processor time, for 1 to 8 threads.",
         "≤ 0.22 for 1, 2, 4, 8 threads")
def contention_private(cells):
    return cells(sharing="private", W=[1, 2, 4, 8]).ratio("time", POOL, GLOBAL) <= 0.22

@promise("One synchronized multipool for two threads takes at most a tenth of the best other synchronized pool's processor time.",
         "≤ 0.1 for two threads")
def contention_shared(cells):
    return cells(sharing="shared", W=2).ratio("time", SHARED_POOL, best(alike=True)) <= 0.1
