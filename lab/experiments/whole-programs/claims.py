from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise

ADVISED = "headroom::advised"


@promise("Whole programs, every vector replaced: processor time / the program's as it is", "≤ 1.01")
def whole_time(cells):
    return cells.ratio("time", VECTOR, YARDSTICK) <= 1.01


@promise("Whole programs, every vector replaced: peak of resident memory / the program's as it is", "≤ 1.01")
def whole_peak(cells):
    return cells.ratio("peak", VECTOR, YARDSTICK) <= 1.01


@promise("Whole programs with what the profiler advises, where it advises anything: processor time / the program's as it is, on average", "≤ 0.90")
def advised_time(cells):
    return cells.ratio("time", ADVISED, YARDSTICK).mean() <= 0.90


@promise("Whole programs with what the profiler advises: peak of resident memory / the program's as it is, on average", "≤ 1.03")
def advised_peak(cells):
    return cells.ratio("peak", ADVISED, YARDSTICK).mean() <= 1.03


@promise("Whole programs under {}, with what the profiler advises: processor time / the same malloc alone, on average", "≤ 1.00",
         each=("jemalloc", "tcmalloc", "mimalloc"))
def advised_under(cells, allocator):
    return cells.ratio("time", f"{ADVISED} under {allocator}", f"{YARDSTICK} under {allocator}").mean() <= 1.00
