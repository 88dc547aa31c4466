# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import DEFAULT, VECTOR, YARDSTICK
from headroom_report.verdicts.claims import least, promise

@promise("Vectors of two sizes in turn, from a megabyte on, take no more than 1.15 of std::vector's time, however they are built.", "≤ 1.15")
def turns_vector(cells):
    return cells(order="in turn", bytes=least(2**20)).ratio("time", VECTOR, YARDSTICK) <= 1.15

@promise("So do settled_vectors of two sizes in turn, from a megabyte on.", "≤ 1.15")
def turns_settled(cells):
    return cells(order="in turn", bytes=least(2**20)).ratio("time", DEFAULT, YARDSTICK) <= 1.15
