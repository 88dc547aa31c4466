# SPDX-License-Identifier: MIT
"""Utilization: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import charts, values
from headroom_report.pictures.charts import Picture
from headroom_report.results import published, words
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell
from headroom_report.tables.p0089 import percent_table
from headroom_report.tables.table import Table


def pictures(cells: list[Cell]) -> list[Picture | None]:
    numbers = [cell for cell in cells if isinstance(cell.parameters.get("A_exponent"), int)]
    if not numbers:
        return []
    total = max((cell.parameters.get("T_exponent", 0) for cell in numbers), default=0)
    most = max(cell.parameters["A_exponent"] for cell in numbers)
    chosen = [
        cell for cell in numbers if cell.parameters["A_exponent"] == most and cell.parameters.get("T_exponent") == total
    ]
    rows = [{**row, "x": 1 << row["x"]} for row in values.by_kind(chosen, "S_exponent")]
    return [
        charts.sweep(
            "utilization",
            f"Time of an allocation and its deallocation: {words.power2(total)} B in all, {words.power2(most)} B at once",
            rows,
            "bytes",
            "size of a block",
            "time of a pair",
            "s",
        )
    ]


def beside(cells: list[Cell]) -> list[Table]:
    smallest = min((row[0] for row in published.tables()["p0089_utilization"].rows), default=30)
    totals = {cell.parameters.get("T_exponent") for cell in cells}
    keys = {"A exponent": "A_exponent", "S exponent": "S_exponent"}
    if any(isinstance(total, int) and total >= smallest for total in totals):
        keys["T exponent"] = "T_exponent"
        note = ""
    else:
        note = f"The document's smallest total is {words.power2(smallest)} bytes; its rows for that stand beside ours."
    return percent_table(cells, "p0089_utilization", keys, note)

EXPERIMENT = Experiment(
    title="Utilization",
    question="What does an allocator cost a program that allocates much in all, but uses little of it at once?",
    document="P0089R0, Benchmark III",
    method=(
        "Blocks of S bytes are allocated until A bytes are in use; then the oldest is given back and another allocated, until "
        "T bytes have been allocated in all. The time is that of one allocation with its deallocation; the first byte of each "
        "block is written."
    ),
    limits="Monotonic resources never use a block again and need T bytes: that is the document's point.",
    contests=(
        Contest("time", "time of an allocation and its deallocation",
                "a large block allocated and given back, through a pool", "the global allocator, for blocks above 4 KiB"),
    ),
    more=(Contest("loop_cpu", "processor time"),),
    reading="Time of a pair over the size of a block; both axes are logarithmic. From 8 KiB up, blocks pass through most multipools.",
    yardstick="std::allocator AS1",
    pictures=pictures,
    beside=beside,
    by_strategy=True,
    place=160,
)
