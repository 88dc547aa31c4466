# SPDX-License-Identifier: MIT
from headroom_report.results.documents import REALLOCATION
from headroom_report.verdicts.claims import claim

KEEPING, WAITING = "std::vector, flags", "mutexes and signs"


@claim(REALLOCATION, "Keeping every value of the first two threads, in O(iterations) memory, would reduce the time considerably.",
       "Threading in C++0x", "considerably",
       note="Considerably is read as to a half at most; std::vector filled before, with a flag for each value.")
def exponential_keeping(cells):
    return cells.ratio("time", KEEPING, WAITING).most() <= 0.5

@claim(REALLOCATION, "The program is mostly busy waiting for a mutex: more than half of its processor time.", "Threading in C++0x", "mostly",
       note="Processor time of one thread that computes the same, divided by that of the program.")
def exponential_waiting(cells):
    return cells.ratio("cpu", "one thread", WAITING).most() <= 0.5
