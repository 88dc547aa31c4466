# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import DEFAULT, YARDSTICK
from headroom_report.results.documents import FOUR_GB
from headroom_report.verdicts.claims import claim, least, most, promise, span

@claim(FOUR_GB, "Under 64 KiB std::vector is faster than a vector over 4 GiB of reserved addresses.", "the list of measurements",
       "faster (no figure)", overturn=True)
def one_growth_small(cells):
    return cells(bytes=most(2**16 - 1)).ratio("time", DEFAULT, YARDSTICK) > 1

@claim(FOUR_GB, "At many megabytes the reserving vector is faster, by up to 35%.", "the list of measurements",
       "0.65× the time at best")
def one_growth_large(cells):
    return cells(bytes=least(2**22)).ratio("time", DEFAULT, YARDSTICK).some() <= 0.65

@claim(FOUR_GB, "From 64 KiB up the reserving vector is the faster one at every size.", "the list of measurements",
       "otherwise up to 35% faster")
def one_growth_from_64k(cells):
    return cells(bytes=least(2**16)).ratio("time", DEFAULT, YARDSTICK) < 1

@promise("A vector that grows once, is read once and dropped takes at most nine tenths of std::vector's time, from 4 KiB to 256 MiB.",
         "≤ 0.9 from 4 KiB to 256 MiB")
def one_growth_everywhere(cells):
    return cells(bytes=span(4096, 2**28)).wants(bytes=[4096, 2**28]).ratio("time", DEFAULT, YARDSTICK) <= 0.9

@promise("From 16 MiB up it takes at most a third.", "≤ 0.33 from 16 to 256 MiB")
def one_growth_16m(cells):
    return cells(bytes=span(2**24, 2**28)).wants(bytes=[2**24, 2**28]).ratio("time", DEFAULT, YARDSTICK) <= 0.33
