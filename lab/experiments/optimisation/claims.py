# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise

@promise("At -{} filling a vector of 16 to 10⁵ ints or strings takes at most .85 of std::vector's time in the mean.",
         "geometric mean ≤ 0.85", each=("O1", "O2", "O3"))
def life_at(cells, level):
    return cells(optimisation=level).ratio("time", VECTOR, YARDSTICK).mean() <= 0.85
