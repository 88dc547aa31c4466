from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise

@promise("A vector's life at -{}: time / std::vector's", "≤ 1.05", each=("O1", "O2", "O3"))
def life_at(cells, level):
    return cells(optimisation=level).ratio("time", VECTOR, YARDSTICK) <= 1.05
