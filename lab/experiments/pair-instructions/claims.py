from headroom_report.results.strategies import POOL
from headroom_report.verdicts.claims import promise

@promise("Instructions of an allocation and its deallocation, counted, bound at compile time, of a size known at run time", "≤ 20")
def pair_instructions(cells):
    return cells(known_size=False).value("instructions", POOL) <= 20

@promise("The same of a size known to the compiler", "≤ 10")
def pair_instructions_constant(cells):
    return cells(known_size=True).value("instructions", POOL) <= 10
