# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise

ADVISED = "headroom::advised"


@promise("Programs of others whose vectors are all replaced take no more processor time, on average.", "≤ 1.02 of what they take as they are")
def whole_time(cells):
    return cells.ratio("time", VECTOR, YARDSTICK).mean() <= 1.02


@promise("Their peak of memory stays about what it is, on average.", "≤ 1.07 of what they take as they are")
def whole_peak(cells):
    return cells.ratio("peak", VECTOR, YARDSTICK).mean() <= 1.07


@promise("Programs of others with what `headroom profile` advises, where it advises anything, take at most nine tenths of the processor time.",
         "≤ 0.90 of what they take as they are, on average")
def advised_time(cells):
    return cells.ratio("time", ADVISED, YARDSTICK).mean() <= 0.90


@promise("Their peak of memory stays about what it is, on average.", "≤ 1.05 of what they take as they are")
def advised_peak(cells):
    return cells.ratio("peak", ADVISED, YARDSTICK).mean() <= 1.05


@promise("Under {}, too, what `headroom profile` advises costs no processor time, on average.", "≤ 1.05 of what they take under it",
         each=("jemalloc", "tcmalloc", "mimalloc"))
def advised_under(cells, allocator):
    return cells.ratio("time", f"{ADVISED} under {allocator}", f"{YARDSTICK} under {allocator}").mean() <= 1.05
