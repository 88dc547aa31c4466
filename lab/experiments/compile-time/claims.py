from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise

@promise("Processor time to compile a file that includes vector and appends to one, -O2 / the same of std::vector", "≤ 1.5")
def compile_time(cells):
    return cells.ratio("time", VECTOR, YARDSTICK) <= 1.5
