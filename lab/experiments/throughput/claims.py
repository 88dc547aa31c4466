# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import DEFAULT, PAGE_BY_PAGE, YARDSTICK
from headroom_report.results.documents import RESERVE_AND_COMMIT
from headroom_report.verdicts.claims import claim, least, promise


@promise("An array of 10⁷ or 10⁸ ints, appended one by one in a new process, takes at most a third of std::vector's time.",
         "≤ 0.33 at 10⁷, 10⁸")
def append_default(cells):
    return cells(element="int", optimisation="O2", elements=[10**7, 10**8], warm=False).ratio("time", DEFAULT, YARDSTICK) <= 0.33

@promise("The same with huge pages takes at most a seventh.", "≤ 0.15 at 10⁷, 10⁸")
def append_huge_pages(cells):
    chosen = cells(element="int", optimisation="O2", elements=[10**7, 10**8], warm=False)
    return chosen.ratio("time", "headroom::settled_vector/huge_pages", YARDSTICK) <= 0.15

@promise("The same where the process has a kept range to use again takes at most an eighth.", "≤ 0.12 at 10⁶, 10⁷, 10⁸")
def append_warm(cells):
    chosen = cells(element="int", optimisation="O2", elements=[10**6, 10**7, 10**8], warm=True)
    return chosen.ratio("time", "headroom::settled_vector/warm", YARDSTICK) <= 0.12

@promise("An array of 10⁷ unique_ptr, appended one by one in a new process, takes at most nine tenths of std::vector's time.",
         "≤ 0.9 at 10⁷")
def append_pointers(cells):
    return cells(element="unique_ptr<int>", optimisation="O2", elements=[10**7], warm=False).ratio("time", DEFAULT, YARDSTICK) <= 0.9

@claim(RESERVE_AND_COMMIT, "Without optimisation DynArray appends faster than std::vector in every case.",
       "Throughput, no optimisation",
       "0.565× the time (Linux, 10⁶ ints)",
       note="The document's own Mac table has DynArray slower at 10³.")
def throughput_unoptimised(cells):
    return cells(optimisation="O0", warm=False).ratio("time", PAGE_BY_PAGE, YARDSTICK) < 1

@claim(RESERVE_AND_COMMIT, "With optimisation std::vector is ahead of DynArray on large arrays of int.", "Throughput, /O2 and -O2",
       "1.11× the time (Linux, 10⁹ ints)", overturn=True)
def throughput_ints(cells):
    return cells(optimisation="O2", element="int", elements=least(10**7), warm=False).ratio("time", PAGE_BY_PAGE, YARDSTICK) > 1

@claim(RESERVE_AND_COMMIT, "With optimisation std::vector is ahead of DynArray on small arrays.", "Throughput, /O1, /O2, -O1, -O2",
       "1.2× the time (Linux, 10³ unique_ptr)")
def throughput_small(cells):
    return cells(optimisation=["O1", "O2"], elements=1000, warm=False).ratio("time", PAGE_BY_PAGE, YARDSTICK) > 1

@claim(RESERVE_AND_COMMIT, "With optimisation DynArray is ahead on large arrays of unique_ptr.", "Throughput, /O2 and -O2",
       "0.854× the time (FreeBSD, 10⁹; Windows 0.24, Mac 2.44)")
def throughput_pointers(cells):
    chosen = cells(optimisation=["O1", "O2"], element="unique_ptr<int>", elements=least(10**7), warm=False)
    return chosen.ratio("time", PAGE_BY_PAGE, YARDSTICK) < 1
