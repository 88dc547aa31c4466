"""What is claimed and promised of levels of optimisation."""

from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise


def at(level):
    def life_at(cells):
        return cells(optimisation=level).ratio("time", VECTOR, YARDSTICK) <= 1.05

    life_at.__name__ += f"_{level}"
    return promise(f"A vector's life at -{level}: time / std::vector's", "≤ 1.05")(life_at)


life_at_o1, life_at_o2, life_at_o3 = map(at, ("O1", "O2", "O3"))
