# SPDX-License-Identifier: MIT
"""Throughput: what the report shows of it."""

from __future__ import annotations

from dataclasses import replace

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Answer, Contest, Experiment, Limit, Matter
from headroom_report.results.figures import Cell
from headroom_report.tables import dynarray
from headroom_report.tables.table import Table


def pictures(cells: list[Cell]) -> list[Picture | None]:
    def drawn(name: str, title: str, chosen: list[Cell], across=values.element) -> Picture | None:
        return values.over(chosen, name, title, "elements", values.per_element, "time per element", "s", across)

    def of(level: str) -> list[Cell]:
        return [cell for cell in cells if not cell.parameters.get("warm") and cell.parameters.get("optimisation") == level]

    # First the picture that is published beside the page. It says one thing.
    vectors = {"std::vector", "headroom::vector", "headroom::settled_vector"}
    ints = [replace(cell, runs={name: cell.runs[name] for name in cell.runs if name in vectors})
            for cell in of("O2") if cell.parameters.get("element") == "int"]
    plain = [replace(cell, runs={name: runs for name, runs in cell.runs.items() if "/" not in name}) for cell in of("O2")]
    warm = [cell for cell in cells if cell.parameters.get("warm")]
    return [
        drawn("throughput-int", "Time per appended int, -O2", ints, None),
        drawn("throughput-O2", "The same, with other elements and every library", plain),
        drawn("throughput-policies", "With every policy", of("O2")),
        drawn("throughput-O1", "Time per appended element, -O1", of("O1")),
        drawn("throughput-O0", "Time per appended element, not optimised, -O0", of("O0")),
        drawn("throughput-warm", "Time per appended int when the process is warm, -O2", warm, None),
    ]


def beside(cells: list[Cell]) -> list[Table]:
    return dynarray.beside(cells, "reserve_and_commit_throughput", "seconds", "time", "Time to build")

EXPERIMENT = Experiment(
    title="Throughput",
    question="How long does it take to append n elements to an empty vector whose final size is not known?",
    document="Reserve and commit",
    method=(
        "Every array is built in a process of its own, from an empty vector without reserve(), and timed on the clock from "
        "before the vector is made until after the last append. Contenders take turns, round by round. Up to 10⁴ elements "
        "the same is also measured again and again in one process. A “warm” process has built and dropped one such "
        "vector before."
    ),
    limits=(
        "One pattern of use: nothing but appending. reserve() would help std::vector where the size is known. The document "
        "took processor time, on clocks of 1 µs to 16 ms; here it is time on the clock."
    ),
    contests=(
        Contest("time", "time to build",
                "the first array of a process: no memory waits yet", "std::vector, where a process has one short vector",
                Limit("the first touch of a page", "commit-cost", {"pages": 1}, "first_touch", "call_p50")),
        Contest("time_steady", "time to build, again and again"),
    ),
    more=(
        Contest("destroy", "time to drop"),
        Contest("loop_cpu", "processor time of all threads"),
    ),
    reading="Time per element; lower is better. Both axes are logarithmic.",
    pictures=pictures,
    answers=(
        Answer(
            "growing", "time to append, first array of a process", "time", {"element": "int", "optimisation": "O2", "warm": False}, ("small",), place=15
        ),
    ),
    in_readme=("throughput-int",),
    beside=beside,
    matters=(
        Matter("build", "the time to build one", "time", "elements", {"optimisation": "O2", "warm": False}, place=10),
    ),
    place=10,
)
