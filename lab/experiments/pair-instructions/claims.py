# SPDX-License-Identifier: MIT
from headroom_report.results.strategies import POOL
from headroom_report.verdicts.claims import promise

@promise("An allocation and its deallocation through a multipool, of a size known at run time, takes at most 15 instructions.", "≤ 15")
def pair_instructions(cells):
    return cells(known_size=False).value("instructions", POOL) <= 15

@promise("Of a size known to the compiler it takes at most 11.", "≤ 11")
def pair_instructions_constant(cells):
    return cells(known_size=True).value("instructions", POOL) <= 11
