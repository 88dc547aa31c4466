# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import DEFAULT, VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise

@promise("Compiling a file that includes vector and appends to one takes at most a quarter more processor time than with std::vector.",
         "≤ 1.25")
def compile_time(cells):
    return cells.ratio("time", VECTOR, YARDSTICK) <= 1.25


@promise("Including settled_vector takes at most 1.6 of the processor time of including std::vector.", "≤ 1.6")
def include_time(cells):
    return cells(program="#include of a vector").ratio("time_include", DEFAULT, YARDSTICK) <= 1.6
