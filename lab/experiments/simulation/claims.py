# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import VECTOR
from headroom_report.results.documents import MREMAP
from headroom_report.verdicts.claims import best, claim

@claim(MREMAP, "In the simulation over ints, its push_back is the fastest.", "4.3", "better than all others (plot)")
def simulation_int(cells):
    return cells(element="int").ratio("push_back", VECTOR, best()) < 1

@claim(MREMAP, "In the simulation over arrays of ten ints, all its push_backs take well under half the time of the next best.", "4.4",
       "54 s against 145 s for boost::container::vector: 0.37×")
def simulation_array(cells):
    return cells(element="array<int,10>").ratio("push_back", VECTOR, best()) <= 0.45

@claim(MREMAP, "Copying vectors of int is slower with it than with the others.", "4.3", "behind all others (plot)", overturn=True)
def simulation_copy(cells):
    return cells(element="int").ratio("copy", VECTOR, best()) > 1.05

@claim(MREMAP, "Constructing vectors of its TestType is slower with it than with the others.", "4.6", "behind all others (plot)",
       overturn=True)
def simulation_construct(cells):
    return cells(element="TestType").ratio("construct", VECTOR, best()) > 1.05

@claim(MREMAP, "With three element types at once, even {}, which never grows, is faster with it.", "4.7",
       "faster in all actions but construct (plot)", each=("erase", "pop_back"))
def simulation_shrinking(cells, action):
    return cells(element="string+int+array<int,10>").ratio(action, VECTOR, best()) < 1

@claim(MREMAP, "With three element types at once it has a clear advantage over all others in total.", "4.7",
       "significant advantage (plot)")
def simulation_three(cells):
    return cells(element="string+int+array<int,10>").ratio("time", VECTOR, best()) <= 0.9
