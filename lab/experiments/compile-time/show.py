# SPDX-License-Identifier: MIT
"""Compile time: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.bars(cells, "compile-time", "Processor time to compile a file with one vector")

EXPERIMENT = Experiment(
    title="Compile time",
    question="How long does a file take to compile that includes a container and appends to one?",
    document="Headroom's own",
    method=(
        "The compiler that built the lab compiles a file of six lines at -O2, seven times after one that warms the file cache; "
        "processor time counts."
    ),
    limits="Whoever brings more than its own container pays for what a file may be glad of.",
    contests=(Contest("time", "time to compile", "compiling a file that includes the headers", "the C++20 module"),),
    reading="Lower is better.",
    pictures=pictures,
    place=80,
)
