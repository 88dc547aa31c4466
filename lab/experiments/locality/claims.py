# SPDX-License-Identifier: MIT
from headroom_report.results.documents import P0089R0
from headroom_report.results.strategies import GLOBAL, POOL
from headroom_report.verdicts.claims import claim

@claim(P0089R0, "Once memory is shuffled, shuffling it further adds little.", "Benchmark II, table 15",
       "16.2 times after three shuffles, 16.2 after nine (10⁶ links)")
def shuffle_at_once(cells):
    return cells(sf=9, af=10).ratio("degradation", GLOBAL, GLOBAL, at={"sf": 3}).most() <= 1.25

@claim(P0089R0, "Without local allocators, access after shuffling is up to 10 to 20 times slower.", "Benchmark II, tables 16, 17",
       "up to 18 (2²¹ links) and 39 (2²⁵)")
def locality_without(cells):
    return cells(sf=5).value("degradation", GLOBAL).some() >= 10

@claim(P0089R0, "With a local multipool it is under 3 times slower everywhere.", "Benchmark II, tables 18, 19", "under 3")
def locality_with(cells):
    return cells(sf=5).value("degradation", POOL) < 3

@claim(P0089R0, "With a local multipool it is mostly well under twice as slow.", "Benchmark II, tables 18, 19",
       "in almost all cases well below 2")
def locality_with_mostly(cells):
    return cells(sf=5).value("degradation", POOL).most() < 2
