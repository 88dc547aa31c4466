# SPDX-License-Identifier: MIT
"""Commit cost: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results import published
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell
from headroom_report.tables.table import Column, Entry, Table


def pictures(cells: list[Cell]) -> list[Picture | None]:
    title = "Time per page of each call"
    pictures = [values.over(cells, "commit-cost", title, "pages", values.of_metric("time_per_page"), "time per page", "s", x_title="pages in one call")]
    one = next((cell for cell in cells if cell.parameters.get("pages") == 1), None)
    if one:
        pictures.append(
            values.histograms(one, "commit-cost-histogram", "Calls by how long they took: one page", "call_histogram", "time of one call")
        )
    return pictures


def beside(cells: list[Cell]) -> list[Table]:
    """The document's histograms of its system's commit call, and of our commit and first touch at one page."""
    source = published.tables()["reserve_and_commit_system_calls"]
    cell = next((cell for cell in cells if cell.parameters.get("pages") == 1), None)
    theirs = [
        ("bench2.exe", "NtAllocateVirtualMemory"),
        ("bench0.exe", "VirtualAlloc"),
        ("bench0.exe", "DynArray<int>::Append"),
    ]
    ours = [name for name in ("commit", "first_touch", "populate") if cell and cell.histogram(name, "call_histogram")]
    table = Table(
        [Column("from (µs)", True)]
        + [Column(f"{function}, published", True) for _, function in theirs]
        + [Column(f"{name}, here", True) for name in ours],
        caption="How many calls took how long: published (Windows) and here (one page)",
        notes=["A row counts the calls from its time up to the next row's."],
    )
    counts = []
    for program, function in theirs:
        counts.append(
            {
                row["at_least_microseconds"]: row["count"]
                for row in source.records({"program": program, "function": function})
            }
        )
    for name in ours:
        found = cell.histogram(name, "call_histogram")
        bins: dict[int, float] = {}
        for value, count in zip(found.values, found.counts):
            micro = int(value * 1e6)
            low = 1 << (micro.bit_length() - 1) if micro else 0
            bins[low] = bins.get(low, 0) + count
        counts.append(bins)
    for low in [0] + [1 << power for power in range(20)]:
        if any(column.get(low) for column in counts):
            table.rows.append(
                [Entry(f"{low:,}")]
                + [Entry(f"{column.get(low, 0):,.0f}") for column in counts]
            )
    return [table]

EXPERIMENT = Experiment(
    title="Commit cost",
    question="How long does each system call take that growing in place makes?",
    document="Reserve and commit",
    method="Each call is timed by the cycle counter, 50 to 20,000 times, on ordinary pages that were not used before.",
    limits=(
        "Pages that the system has just taken back are handed out first, so the processor's caches are warmer here than in a "
        "long-lived program."
    ),
    contests=(
        Contest("call_p50", "median call"),
        Contest("call_p99", "p99"),
        Contest("call_max", "longest call"),
    ),
    reading=(
        "Time per page; both axes are logarithmic. A flat line means that every page costs the same; a falling one, that the "
        "call itself does."
    ),
    pictures=pictures,
    beside=beside,
    compared=False,
    place=60,
)
