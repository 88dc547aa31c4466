from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise

@promise("Every operation of a vector with 1 to 100,000 elements, at -O2: mean time / std::vector's", "≤ 0.95")
def every_operation(cells):
    return cells(optimisation="O2").ratio("time", VECTOR, YARDSTICK) <= 0.95
