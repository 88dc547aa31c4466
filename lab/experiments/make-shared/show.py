# SPDX-License-Identifier: MIT
"""Shared objects: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results import published, words
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell
from headroom_report.tables.table import Column, Entry, Table, quotient

YARDSTICK = "std::shared_ptr(new)"


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.bars(cells, "make-shared", f"Time to make and drop one shared int, divided by {YARDSTICK}'s", yardstick=YARDSTICK)


def beside(cells: list[Cell]) -> list[Table]:
    source = published.tables()["make_shared"]
    table = Table(
        [
            Column("optimisation"),
            Column("shared_ptr(new), published", True),
            Column("make_shared, published", True),
            Column("ratio, published", True),
            Column("shared_ptr(new), here", True),
            Column("make_shared, here", True),
            Column("ratio, here", True),
        ],
        caption="100,000 shared ints: published and here",
        notes=[f"Published on: {'; '.join(source.machines.values())}."],
    )
    for level, printed in (("O0", "O0"), ("O2", "O")):
        cell = next((cell for cell in cells if cell.parameters.get("optimisation") == level), None)
        there = {record["way"]: record["seconds"] for record in source.records({"optimisation": printed})}
        figures = [cell.figure(name, "time") if cell else None for name in ("std::shared_ptr(new)", "std::make_shared")]
        if not all(figures):
            continue
        count = cell.parameters.get("objects", 100_000)
        ratio_there = there["make_shared"] / there["shared_ptr(new)"]
        ratio = cell.ratio("time", "std::make_shared", "std::shared_ptr(new)")
        table.rows.append(
            [
                Entry(f"-{level}"),
                *[Entry(words.seconds(there[name])) for name in ("shared_ptr(new)", "make_shared")],
                quotient(ratio_there),
                *[Entry(words.seconds(figure.median * count)) for figure in figures],
                quotient(ratio.median if ratio else None),
            ]
        )
    return [table]

EXPERIMENT = Experiment(
    title="Shared objects",
    question="What does an object cost that is shared: by shared_ptr(new …), make_shared, or allocate_shared on a memory resource?",
    document="Vector reallocation strategies",
    method=(
        "100,000 shared ints are made and kept, then dropped; the figure is the time for one. A memory resource is kept from "
        "round to round and told when a round is over. Allocations are counted in a pass of their own."
    ),
    limits="Nothing else is allocated meanwhile, so the global allocator finds the best of all heaps.",
    contests=(Contest("time", "time for one object", "single shared objects", "std::make_shared"),),
    more=(Contest("allocations", "allocations for all objects"),),
    reading="Time to make and drop one object; shorter is better.",
    yardstick=YARDSTICK,
    pictures=pictures,
    beside=beside,
    place=130,
)
