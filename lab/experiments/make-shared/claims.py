# SPDX-License-Identifier: MIT
from headroom_report.results.documents import REALLOCATION
from headroom_report.verdicts.claims import claim

@claim(REALLOCATION, "make_shared takes one allocation where shared_ptr(new) takes two.", "shared_ptr's constructor vs make_shared()",
       "0.5× the allocations")
def make_shared_allocations(cells):
    return cells.ratio("allocations", "std::make_shared", "std::shared_ptr(new)") <= 0.5

@claim(REALLOCATION, "Without optimisation make_shared is the slower of the two.", "shared_ptr's constructor vs make_shared()",
       "1.69× the time")
def make_shared_unoptimised(cells):
    return cells(optimisation="O0").ratio("time", "std::make_shared", "std::shared_ptr(new)") > 1

@claim(REALLOCATION, "With optimisation make_shared is considerably the faster.", "shared_ptr's constructor vs make_shared()",
       "0.571× the time")
def make_shared_optimised(cells):
    return cells(optimisation="O2").ratio("time", "std::make_shared", "std::shared_ptr(new)") <= 0.8
