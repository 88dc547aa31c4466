from headroom_report.results.strategies import POOL
from headroom_report.verdicts.claims import best, least, promise

@promise("The later lives of an unordered_map of 10⁵ elements and more in one multipool, bound at compile time, against the best of the "
         "others",
         "≤ 1.0×")
def lives_hashed(cells):
    return cells(container="unordered_map", elements=least(10**5)).ratio("time", POOL, best()) <= 1.0

@promise("The later lives of a set<string> of 10⁵ elements and more in one multipool, bound at compile time, against the best of the "
         "others",
         "≤ 1.0×")
def lives_strings(cells):
    return cells(container="set<string>", elements=least(10**5)).ratio("time", POOL, best()) <= 1.0

@promise("A later life of a container in one multipool against the first, in whatever order elements come and go", "≤ 1.1×")
def lives_ageing(cells):
    return cells.value("ageing", POOL) <= 1.1
