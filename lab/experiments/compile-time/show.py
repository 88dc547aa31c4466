# SPDX-License-Identifier: MIT
"""Compile time: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell

# The metric of each kind of cell, and the title of its picture. Cells without a program are the file with one vector.
KINDS = (
    ("compile-time", "time", "Processor time to compile a file with one vector"),
    ("compile-time-include", "time_include", "Processor time to compile an #include"),
    ("compile-time-types", "time_types", "Processor time to compile vectors of 50 types, nine members of each"),
)


def metric_of(cell: Cell) -> str:
    program = str(cell.parameters.get("program", ""))
    return "time_types" if program == "50 types" else "time_include" if program else "time"


def pictures(cells: list[Cell]) -> list[Picture | None]:
    drawn: list[Picture | None] = []
    for name, metric, title in KINDS:
        kind = [cell for cell in cells if metric_of(cell) == metric]
        if kind:
            drawn += values.bars(kind, name, title, metric=metric)
    return drawn

EXPERIMENT = Experiment(
    title="Compile time",
    question="How long does a file take to compile that includes a header, appends to a vector, or uses vectors of many types?",
    document="Headroom's own",
    method=(
        "The compiler that built the lab compiles a file of six lines, and a file that only includes a header, at -O2, seven times "
        "after one that warms the file cache; and once in a round nine members of vectors of 50 structures, with a string in each or "
        "trivially copyable, at -O0 and -O2. Processor time counts."
    ),
    limits="Whoever brings more than its own container pays for what a file may be glad of.",
    contests=(Contest("time", "time to compile", "compiling a file that includes the headers", "the C++20 module"),),
    more=(
        Contest("time_include", "time to compile an #include"),
        Contest("time_types", "time to compile vectors of 50 types"),
    ),
    reading="Lower is better.",
    pictures=pictures,
    place=80,
)
