from headroom_report.results.documents import REALLOCATION
from headroom_report.verdicts.claims import claim, published_ratio

def published(unit, column, level):
    """make_shared's figure over shared_ptr(new)'s in the document's table."""
    sides = ({"way": way, "optimisation": level} for way in ("make_shared", "shared_ptr(new)"))
    return published_ratio(unit, "make_shared", *sides, column)


@claim(REALLOCATION, "make_shared takes one allocation where shared_ptr(new) takes two.", "shared_ptr's constructor vs make_shared()",
       published("× the allocations", "allocations", "O"))
def make_shared_allocations(cells):
    return cells.ratio("allocations", "std::make_shared", "std::shared_ptr(new)") <= 0.5

@claim(REALLOCATION, "Without optimisation make_shared is the slower of the two.", "shared_ptr's constructor vs make_shared()",
       published("× the time", "seconds", "O0"))
def make_shared_unoptimised(cells):
    return cells(optimisation="O0").ratio("time", "std::make_shared", "std::shared_ptr(new)") > 1

@claim(REALLOCATION, "With optimisation make_shared is considerably the faster.", "shared_ptr's constructor vs make_shared()",
       published("× the time", "seconds", "O"))
def make_shared_optimised(cells):
    return cells(optimisation="O2").ratio("time", "std::make_shared", "std::shared_ptr(new)") <= 0.8
