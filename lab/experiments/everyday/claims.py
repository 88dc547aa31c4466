from headroom_report.results.catalogue import DEFAULT, VECTOR, YARDSTICK
from headroom_report.verdicts.claims import best, promise

@promise("Filling a {} with ints under the default policy: time / the best std::vector, whatever allocator is preloaded",
         "≤ 1.0 at 10⁶", each=("vector", "settled_vector"))
def everyday_push_int_million(cells, container):
    return cells(workload="push", element="int", elements=10**6).ratio("time", f"headroom::{container}", best(whose=YARDSTICK)) <= 1.0

@promise("Filling a {} with ints under the default policy: time / the best std::vector, whatever allocator is preloaded",
         "≤ 0.7 at 10⁷ and 10⁸", each=("vector", "settled_vector"))
def everyday_push_int(cells, container):
    chosen = cells(workload="push", element="int", elements=[10**7, 10**8])
    return chosen.ratio("time", f"headroom::{container}", best(whose=YARDSTICK)) <= 0.7

@promise("Copying a vector of ints or strings: time / std::vector's", "≤ 1.05")
def everyday_vector_copy(cells):
    return cells(workload="copy").ratio("time", VECTOR, YARDSTICK) <= 1.05

@promise("Filling a vector of any element, at any size: time / std::vector's", "≤ 1.05")
def everyday_vector_push(cells):
    return cells(workload="push").ratio("time", VECTOR, YARDSTICK) <= 1.05

@promise("resize, or reserve and push: time / std::vector's", "≤ 1.05")
def everyday_vector_known_size(cells):
    return cells(workload=["resize-fill", "reserve-push"]).ratio("time", VECTOR, YARDSTICK) <= 1.05

@promise("Two threads that build and drop vectors: time / std::vector's", "≤ 1.0")
def everyday_threads(cells):
    return cells(workload="threads").ratio("time", DEFAULT, YARDSTICK) <= 1.0

@promise("A million short vectors: peak of resident memory / std::vector's", "≤ 1.01")
def everyday_short_memory(cells):
    return cells(workload="short").ratio("peak_resident", VECTOR, YARDSTICK) <= 1.01

@promise("200 vectors that grow in turn: peak of resident memory / std::vector's", "≤ 1.0")
def everyday_in_turn_memory(cells):
    return cells(workload="in-turn").ratio("peak_resident", VECTOR, YARDSTICK) <= 1.0

@promise("A large vector is dropped, then the heap grows: peak of resident memory / std::vector's", "≤ 1.05")
def everyday_dead_memory(cells):
    return cells(workload="dead-large").ratio("peak_resident", VECTOR, YARDSTICK) <= 1.05

@promise("Under {}: headroom::vector / std::vector, strings of 40 and unique_ptr, at 10⁶ and more", "≤ 0.8",
         each=("jemalloc", "tcmalloc", "mimalloc", "hugetlb"))
def everyday_under(cells, allocator):
    chosen = cells(workload="push", element=["string40", "unique_ptr<int>"], elements=[10**6, 10**7])
    return chosen.ratio("time", f"{VECTOR} under {allocator}", f"{YARDSTICK} under {allocator}") <= 0.8
