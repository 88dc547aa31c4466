# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.verdicts.claims import best, promise

@promise("A {} filled with 10⁶ ints takes at most .85 of the time of the best std::vector, whatever malloc is preloaded.",
         "≤ 0.85 at 10⁶", each=("vector", "settled_vector"))
def everyday_push_int_million(cells, container):
    return cells(workload="push", element="int", elements=10**6).ratio("time", f"headroom::{container}", best(whose=YARDSTICK)) <= 0.85

@promise("A vector filled with 10⁷ ints takes at most half of that.", "≤ 0.5 at 10⁷")
def everyday_push_int(cells):
    return cells(workload="push", element="int", elements=[10**7]).ratio("time", VECTOR, best(whose=YARDSTICK)) <= 0.5

@promise("Filling a vector, of whatever element and of 16 to 10⁷ of them, takes little more than half of std::vector's time in the mean.",
         "geometric mean ≤ 0.55")
def everyday_vector_push(cells):
    return cells(workload="push").ratio("time", VECTOR, YARDSTICK).mean() <= 0.55

@promise("resize, or reserve and push, takes std::vector's time.", "≤ 1.06")
def everyday_vector_known_size(cells):
    return cells(workload=["resize-fill", "reserve-push"]).ratio("time", VECTOR, YARDSTICK) <= 1.06

@promise("A million short vectors take no more memory at the peak than std::vector's.", "≤ 1.0")
def everyday_short_memory(cells):
    return cells(workload="short").ratio("peak_resident", VECTOR, YARDSTICK) <= 1.0

@promise("200 vectors that grow in turn take about std::vector's memory at the peak.", "≤ 1.05")
def everyday_in_turn_memory(cells):
    return cells(workload="in-turn").ratio("peak_resident", VECTOR, YARDSTICK) <= 1.05

@promise("Where a large vector is dropped and then the heap grows, the peak of memory is about that with std::vector.", "≤ 1.06")
def everyday_dead_memory(cells):
    return cells(workload="dead-large").ratio("peak_resident", VECTOR, YARDSTICK) <= 1.06

@promise("Under {}, vectors of 10⁶ strings of 40 letters or unique_ptr take no more time than std::vector's.",
         "≤ 1.02 at 10⁶", each=("jemalloc", "tcmalloc", "mimalloc", "hugetlb"))
def everyday_under(cells, allocator):
    chosen = cells(workload="push", element=["string40", "unique_ptr<int>"], elements=[10**6])
    return chosen.ratio("time", f"{VECTOR} under {allocator}", f"{YARDSTICK} under {allocator}") <= 1.02
