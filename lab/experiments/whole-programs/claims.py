from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise


@promise("Whole programs, every vector replaced: processor time / the program's as it is", "≤ 1.01")
def whole_time(cells):
    return cells.ratio("time", VECTOR, YARDSTICK) <= 1.01


@promise("Whole programs, every vector replaced: peak of resident memory / the program's as it is", "≤ 1.01")
def whole_peak(cells):
    return cells.ratio("peak", VECTOR, YARDSTICK) <= 1.01


@promise("Whole programs under {}, every vector replaced: processor time / the same without", "≤ 1.01",
         each=("jemalloc", "tcmalloc", "mimalloc"))
def whole_under(cells, allocator):
    return cells.ratio("time", f"{VECTOR} under {allocator}", f"{YARDSTICK} under {allocator}") <= 1.01
