# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import DEFAULT, PAGE_BY_PAGE, YARDSTICK
from headroom_report.results.documents import RESERVE_AND_COMMIT
from headroom_report.verdicts.claims import Finding, claim, least, promise


def survives(cell):
    """Whether DynArray ended well where std::vector did not; nothing where that did not fail."""
    first, second = cell.outcome(PAGE_BY_PAGE), cell.outcome(YARDSTICK)
    if first in (None, "absent", "not_run") or second not in ("bad_alloc", "killed"):
        return None
    return Finding(cell.parameters, shows=first == "ok", why=f"{PAGE_BY_PAGE}: {first}; {YARDSTICK}: {second}")


@promise("A process that builds 10⁸ ints has at its peak at most .08 more memory than the ints.", "≤ 1.08 at 10⁸")
def memory_peak(cells):
    return cells(element="int", elements=[10**8]).value("peak_resident", DEFAULT, over="payload") <= 1.08

@claim(RESERVE_AND_COMMIT, "DynArray, which commits page by page, never keeps as much as one page that it does not use.",
       "Performance cost", "at most 4095 bytes")
def memory_one_page(cells):
    return cells.value("unused", PAGE_BY_PAGE) <= 4095

@claim(RESERVE_AND_COMMIT, "From 10⁶ elements up DynArray takes less memory at its peak than std::vector.", "Memory",
       "0.931× the memory (Linux, 10⁹)")
def memory_less(cells):
    return cells(elements=least(10**6)).ratio("peak_resident", PAGE_BY_PAGE, YARDSTICK) < 1

@claim(RESERVE_AND_COMMIT, "At 10³ elements, where all fits into one page, DynArray takes more memory than std::vector.", "Memory",
       "1.02× the memory (Linux, 10³)")
def memory_small_more(cells):
    return cells(elements=1000).ratio("peak_resident", PAGE_BY_PAGE, YARDSTICK) > 1

@claim(RESERVE_AND_COMMIT, "While std::vector doubles, it needs up to three times the memory of its elements.",
       "Performance Cost, Space", "G + 1 = 3× (derived); 1.38× seen on Windows at 10⁹",
       note="The derivation counts address space; the memory that is resident at the peak is what is measured here.")
def memory_three_times(cells):
    return cells(elements=least(10**5)).value("peak_resident", YARDSTICK, less="baseline", over="payload").some() >= 2.5

@claim(RESERVE_AND_COMMIT, "At 10¹⁰ ints DynArray still works where std::vector fails.", "Memory",
       "Windows: 12.9 GB against std::bad_alloc; on FreeBSD and Linux both failed")
def memory_reaches_further(cells):
    return cells(elements=10**10).figures(survives).shown()
