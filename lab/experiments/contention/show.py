# SPDX-License-Identifier: MIT
"""Contention: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import charts, values
from headroom_report.pictures.charts import Picture
from headroom_report.results import published, words
from headroom_report.results.catalogue import Answer, Contest, Experiment, Matter
from headroom_report.results.figures import Cell
from headroom_report.tables.p0089 import percent_table
from headroom_report.tables.table import Table
from headroom_report.verdicts.claims import least


def pictures(cells: list[Cell]) -> list[Picture | None]:
    def middle(found: list[Cell]) -> list[Cell]:
        """Of the sizes of blocks the middle one, at the largest N."""
        if not found:
            return []
        most = max(cell.parameters.get("N_exponent", 0) for cell in found)
        blocks = sorted({cell.parameters.get("S_exponent", 0) for cell in found})
        block = blocks[len(blocks) // 2]
        return [
            cell
            for cell in found
            if cell.parameters.get("N_exponent") == most and cell.parameters.get("S_exponent") == block
        ]

    private = middle([cell for cell in cells if cell.parameters.get("sharing", "private") == "private"])
    shared = middle([cell for cell in cells if cell.parameters.get("sharing") == "shared"])
    rows = values.by_kind(private, "W")
    for row in rows:
        row["panel"] = f"a {row['panel']} each" if row["panel"] != "multipool over monotonic" else "a multipool over monotonic each"
    for row in values.by_kind(shared, "W"):
        if row["panel"] == "multipool":
            rows.append({**row, "panel": "one synchronized multipool for all"})
    where = ""
    if private:
        parameters = private[0].parameters
        where = f": blocks of {words.power2(parameters.get('S_exponent'))} B, {words.power2(parameters.get('N_exponent'))} times"
    return [
        charts.sweep(
            "contention",
            f"Processor time of an allocation and its deallocation{where}",
            rows,
            "threads",
            "threads",
            "time of a pair",
            "s",
        )
    ]


def beside(cells: list[Cell]) -> list[Table]:
    private = [cell for cell in cells if cell.parameters.get("sharing", "private") == "private"]
    there = {(row[0], row[1]) for row in published.tables()["p0089_contention"].rows}
    here = {(cell.parameters.get("N_exponent"), cell.parameters.get("S_exponent")) for cell in private}
    keys = {"S exponent": "S_exponent", "W threads": "W"}
    note = "Rows are matched by the size of a block and the threads; the document's number of repetitions is its smallest for that size."
    if here <= there:
        keys["N exponent"] = "N_exponent"
        note = ""
    return percent_table(private, "p0089_contention", keys, note)  # what is shared has no table in the document

EXPERIMENT = Experiment(
    title="Contention",
    question="What do threads cost each other that allocate and give back at the same time?",
    document="P0089R0, Benchmark IV",
    method=(
        "Each of W threads allocates and gives back a block N times, from a resource of its own or from one that all share. The "
        "time is processor time of one pair, so that more threads than processors do not look like contention."
    ),
    limits="Monotonic resources never use a block again. This machine's number of processors limits what W can show.",
    contests=(Contest("time", "processor time of a pair", "several threads that share one pool", "a pool for each thread"),),
    more=(Contest("time_elapsed", "elapsed time of a thread's pair"),),
    reading="Processor time of an allocation with its deallocation over the number of threads; lower is better.",
    yardstick="std::allocator AS1",
    answers=(
        Answer(
            "many", "several threads, a pool each", "time", {"sharing": "private", "W": least(2)}, ("all",),
            "W", "AS7", place=20,
        ),
    ),
    pictures=pictures,
    beside=beside,
    by_strategy=True,
    matters=(
        Matter(
            "threads",
            "the time to allocate and give back from several threads at once",
            "time",
            "",
            {"W": least(2)},
            ("AS1", "AS7", "AS11"),
            element=lambda parameters: words.configuration({name: parameters.get(name) for name in ("W", "sharing")}),
            place=70,
        ),
    ),
    place=170,
)
