# SPDX-License-Identifier: MIT
from headroom_report.results import published
from headroom_report.results.catalogue import DEFAULT, YARDSTICK
from headroom_report.results.documents import REALLOCATION
from headroom_report.verdicts.claims import Finding, claim, promise

TABLE, GCC, MSVC = "vector_reallocation_sequences", "libstdc++ (GCC 4.6.1)", "MSVC (Visual Studio 2010)"
BY_HALF = "headroom::geometric<3,2>"


def as_printed(cell, contender, implementation):
    """Whether it grows at the sizes that the document lists."""
    here = cell.sequence(contender, "grows_at")
    there = published.tables()[TABLE].column("elements", {"implementation": implementation})
    if here is None:
        return None
    why = f"{len(here)} growths, the last at {int(here[-1]):,}" if here else "no growth"
    return Finding(cell.parameters, shows=list(here) == there, why=why)


@promise("A growing settled_vector has committed and not used at most 36 KiB up to 4 MiB, and a little more than a MiB from there on.",
         "≤ 0.55 of 64 KiB, of 2 MiB")
def unused(cells):
    return cells.value("unused_share", DEFAULT) <= 0.55

@claim(REALLOCATION, "The standard library of GCC grows a vector at the powers of two: 21 times for 1,000,000 ints.", "first listing",
       "0, 1, 2, 4 … 524,288: 21 growths")
def growth_doubles(cells):
    return cells(elements=10**6).figures(lambda cell: as_printed(cell, YARDSTICK, GCC)).shown()

@claim(REALLOCATION, "Growing by half, in whole numbers, gives the sequence of Visual Studio 2010, up to 699,913.", "second listing",
       "0, 1, 2, 3, 4, 6, 9 … 699,913: 35 growths")
def growth_half_more(cells):
    return cells(elements=10**6).figures(lambda cell: as_printed(cell, BY_HALF, MSVC)).shown()

@claim(REALLOCATION, "Growing by half needs considerably more growths than doubling.", "after the second listing",
       "1.67× as many")
def growth_half_more_often(cells):
    return cells(elements=10**6).ratio("growths", BY_HALF, YARDSTICK) > 1.3

@claim(REALLOCATION, "Growing by half leaves less room unused than doubling.", "after the second listing",
       "can potentially save space (no figure)")
def growth_half_less_waste(cells):
    return cells(elements=10**6).ratio("unused_most", BY_HALF, YARDSTICK) < 1
