# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import VECTOR
from headroom_report.results.documents import MREMAP
from headroom_report.verdicts.claims import best, claim

@claim(MREMAP, "While memory is short, it is twice as fast as the next best.", "4.5, 4.7",
       "almost 100% more efficient than the runner-up (string)")
def pressure_twice(cells):
    return cells.ratio("time", VECTOR, best()).largest() <= 0.55
