from headroom_report.results.catalogue import DEFAULT, YARDSTICK
from headroom_report.verdicts.claims import promise

@promise("Instructions of an append in the common case, counted, -O2 / std::vector's", "≤ 1.0")
def instructions(cells):
    return cells.ratio("instructions", DEFAULT, YARDSTICK) <= 1
