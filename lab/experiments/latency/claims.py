# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import DEFAULT, PAGE_BY_PAGE, YARDSTICK
from headroom_report.results.documents import RESERVE_AND_COMMIT
from headroom_report.results.figures import percentile, summarise, together
from headroom_report.verdicts.claims import Finding, claim, least, promise


def slow_appends(cells, cell, at, call):
    """The slowest 1024th of the appends, at its quantile `at`, divided by a commit and a first touch of one page."""
    calls = [one.figure(name, call) for one in cells.of("commit-cost")(pages=1).own[:1] for name in ("commit", "first_touch")]
    found = [run.metrics["append_histogram"] for run in cell.ok(PAGE_BY_PAGE) if "append_histogram" in run.metrics]
    samples = [metric for metric in found if sum(metric.counts)]
    if not samples or not calls or not all(calls):
        return None
    tails = summarise((percentile(metric, 1 - (1 - at) / 1024) for metric in samples), samples[0].unit, samples[0].unit == "s")
    return Finding(cell.parameters, tails, together(calls, sum(figure.median for figure in calls)))


@promise("While 10⁸ ints are appended, the longest single append is at most a tenth of std::vector's longest.", "≤ 0.1 at 10⁸")
def stall_longest(cells):
    return cells(element="int", optimisation="O2", elements=[10**8]).ratio("append_max", DEFAULT, YARDSTICK) <= 0.1

@claim(RESERVE_AND_COMMIT, "DynArray's longest single append is shorter than std::vector's at every size from 10⁶.", "Latency",
       "0.0147× the longest append (Linux, 10⁶ ints)")
def latency_always_shorter(cells):
    return cells(elements=least(10**6)).ratio("append_max", PAGE_BY_PAGE, YARDSTICK) < 1

@claim(RESERVE_AND_COMMIT, "On large arrays DynArray's longest append is orders of magnitude shorter than std::vector's.", "Latency",
       "0.00129× the longest append (Linux, 10⁹ ints)")
def latency_orders_of_magnitude(cells):
    return cells(elements=least(10**7)).ratio("append_max", PAGE_BY_PAGE, YARDSTICK) <= 0.01

@claim(RESERVE_AND_COMMIT,
       "DynArray's slow appends are its commit calls: the one append in 1024 that begins a page takes as long as committing a page and "
       "touching it.",
       "Latency, the DTrace histograms", "the same histogram for both, call for append",
       note="Among the slowest 1/1024 of the appends of int, the median; against the median commit of one page plus its median first "
            "touch.")
def commit_explains_append(cells):
    return cells(element="int", optimisation="O2", elements=least(10**6)).figures(lambda cell: slow_appends(cells, cell, 0.5, "call_p50")).within(1.5)

@claim(RESERVE_AND_COMMIT,
       "So are its stalls: of those appends, the slowest in a hundred are as slow as the slowest in a hundred commits and touches.",
       "Latency, the DTrace histograms", "longest append 262,144 µs, longest call 262,144 µs; 131,072 and 131,072",
       note="At p99 and not at the very longest, which in two processes are two accidents.")
def commit_explains_stalls(cells):
    return cells(element="int", optimisation="O2", elements=least(10**6)).figures(lambda cell: slow_appends(cells, cell, 0.99, "call_p99")).within(2)
