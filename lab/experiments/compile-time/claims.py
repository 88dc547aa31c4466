from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import promise

@promise("Compiling a file that includes vector and appends to one takes at most a quarter more processor time than with std::vector.",
         "≤ 1.25")
def compile_time(cells):
    return cells.ratio("time", VECTOR, YARDSTICK) <= 1.25
