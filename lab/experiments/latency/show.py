# SPDX-License-Identifier: MIT
"""Latency: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.pictures.style import arrange
from headroom_report.results import published, words
from headroom_report.results.catalogue import Answer, Contest, Experiment, Limit, Matter
from headroom_report.results.figures import Cell
from headroom_report.tables import dynarray
from headroom_report.tables.table import Column, Entry, Table


def pictures(cells: list[Cell]) -> list[Picture | None]:
    chosen = [
        cell
        for cell in cells
        if cell.parameters.get("optimisation") == "O2"
        and cell.parameters.get("element") == "int"
        and any(cell.histogram(name, "append_histogram") for name in cell.contenders)
    ]
    pictures = []
    if chosen:
        cell = max(chosen, key=lambda cell: cell.parameters["elements"])
        pictures.append(
            values.histograms(
                cell,
                "latency-histogram",
                f"Appends by how long they took: {words.configuration(cell.parameters)}, all rounds",
                "append_histogram",
                "time of one append",
            )
        )

    optimised = [cell for cell in cells if cell.parameters.get("optimisation") == "O2"]
    pictures.append(
        values.over(optimised, "latency-longest", "Longest single append, -O2", "elements", values.of_metric("append_max"), "longest append", "s", values.element)
    )
    return pictures


def decades_here(cells: list[Cell]) -> Table:
    """Our appends in the document's own columns."""
    bounds = published.tables()["reserve_and_commit_latency"].columns[8:]
    table = Table(
        [Column("what"), Column("contender"), Column("least", True), Column("longest", True)]
        + [Column(name.replace("_", " "), True) for name in bounds],
        caption="Appends by how long they took, in the document's decades",
    )
    for cell in cells:
        for name in arrange(set(cell.contenders)):
            counts = cell.sequence(name, "append_decades")
            least, longest = cell.figure(name, "append_min"), cell.figure(name, "append_max")
            if counts is None or least is None or longest is None:
                continue
            table.rows.append(
                [
                    Entry(words.configuration(cell.parameters)),
                    Entry(name, contender=name),
                    Entry(words.seconds(least.median)),
                    Entry(words.seconds(longest.median)),
                ]
                + [Entry(f"{count:,.0f}") for count in counts]
            )
    return table


def beside(cells: list[Cell]) -> list[Table]:
    return [*dynarray.beside(cells, "reserve_and_commit_latency", "max_seconds", "append_max", "Longest append"), decades_here(cells)]

EXPERIMENT = Experiment(
    title="Latency",
    question="How long does one append take: usually, and at worst?",
    document="Reserve and commit",
    method=(
        "Every single append is timed by the processor's cycle counter; what reading the counter costs is measured, "
        "subtracted, and stated. Every sample is kept, to three digits."
    ),
    limits=(
        "The counter's fences hide what the processor would overlap, for all contenders alike. An append of up to some 50 µs "
        "may have been interrupted by the system's timer."
    ),
    contests=(
        Contest("append_max", "longest append",
                "the longest single append: a commit is a call of the system, a block list takes its next block",
                "std::deque, where elements need not lie side by side",
                Limit("the first touch of 16 pages", "commit-cost", {"pages": 16}, "first_touch", "call_p50")),
        Contest("append_p999999", "append at p99.9999",
                "the slowest appends in a million: pages are committed as they are needed", "a policy that commits ahead: prefault_ahead",
                Limit("the first touch of 64 pages", "commit-cost", {"pages": 64}, "first_touch", "call_p50")),
        Contest("append_p50", "median append", "the median append, timed one by one"),
    ),
    more=(
        Contest("append_p99", "append at p99"),
        Contest("append_p9999", "append at p99.99"),
    ),
    reading="How many appends took how long; both axes are logarithmic. What lies far to the right are the stalls.",
    answers=(Answer("growing", "longest single append", "append_max", {"element": "int", "optimisation": "O2"}, place=20),),
    pictures=pictures,
    beside=beside,
    matters=(Matter("stall", "the longest single append", "append_max", "elements", {"optimisation": "O2"}, place=30),),
    place=20,
)
