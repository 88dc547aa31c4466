# SPDX-License-Identifier: MIT
from headroom_report.results.documents import P0089R0
from headroom_report.results.strategies import GLOBAL, MONOTONIC, POOL
from headroom_report.verdicts.claims import best, claim, least, most, promise

@claim(P0089R0, "Up to its pass-through size a multipool takes about 40% of the global allocator's time.", "Benchmark III",
       "0.38 to 0.57× up to blocks of 4096 bytes")
def utilization_multipool(cells):
    return cells(S_exponent=most(12)).ratio("time", POOL, GLOBAL) <= 0.6

@claim(P0089R0, "Above that size it costs what the global allocator does, and little more.", "Benchmark III", "mostly 0.96 to 1.17×")
def utilization_pass_through(cells):
    return cells(S_exponent=least(13)).ratio("time", POOL, GLOBAL) <= 1.3

@claim(P0089R0, "A monotonic resource alone crawls or runs out of memory where little of what is allocated is in use at once.",
       "Benchmark III", "4 to 67× at 2³⁰ and 2³¹ bytes; fails from 2³²")
def utilization_monotonic(cells):
    return cells.ratio("time", MONOTONIC, GLOBAL, failing=True) >= 4

@promise("A block of up to 4 KiB allocated and given back through a multipool takes at most .55 of the global allocator's time.",
         "≤ 0.55 up to 4 KiB")
def utilization_small(cells):
    return cells(S_exponent=most(12)).ratio("time", POOL, GLOBAL) <= 0.55

@promise("The same takes at most nine tenths of the best other multipool's time.", "≤ 0.9 up to 4 KiB")
def utilization_small_best(cells):
    return cells(S_exponent=most(12)).ratio("time", POOL, best(alike=True)) <= 0.9
