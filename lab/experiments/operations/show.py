# SPDX-License-Identifier: MIT
"""Operations: what the report shows of it."""

from __future__ import annotations

import math

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import DEFAULT, VECTOR, YARDSTICK, Contest, Experiment
from headroom_report.results.figures import Cell
from headroom_report.tables.table import Entry, Table, numbers, texts

SMALL = "headroom::small_vector<8>"
SHOWN = (VECTOR, DEFAULT, SMALL)
# A ratio above this is listed.
LIMIT = 1.10


def _times(cell: Cell, contender: str) -> dict[str, float]:
    """The geometric mean over the places of each operation's time, by "operation elements"."""
    found = {}
    for run in cell.ok(contender):
        for name, metric in run.metrics.items():
            if name.count(" ") == 1 and metric.values and min(metric.values) > 0:
                found[name] = math.exp(sum(math.log(each) for each in metric.values) / len(metric.values))
    return found


def ratios(cell: Cell, contender: str) -> dict[str, float]:
    """Each operation's time divided by the same of std::vector."""
    theirs = _times(cell, YARDSTICK)
    return {name: ours / theirs[name] for name, ours in _times(cell, contender).items() if theirs.get(name)}


def beside(cells: list[Cell]) -> list[Table]:
    counts = Table(
        texts("container", "element", "level") + numbers("operations", "above 1.10", "mean"),
        caption="Operations and sizes that take more than 1.10 of std::vector's time",
        notes=["The mean is the geometric one of all ratios. A ratio is the mean of four places in memory."],
    )
    slow = Table(
        texts("container", "element", "level", "operation") + numbers("elements", "÷ std::vector"),
        caption="These operations",
    )
    for cell in cells:
        where = [str(cell.parameters.get("element")), f"-{cell.parameters.get('optimisation')}"]
        for contender in SHOWN:
            each = ratios(cell, contender)
            if not each:
                continue
            above = sorted((item for item in each.items() if item[1] > LIMIT), key=lambda item: -item[1])
            mean = math.exp(sum(map(math.log, each.values())) / len(each))
            counts.rows.append([Entry(text) for text in (contender, *where, str(len(each)), str(len(above)), f"{mean:.2f}")])
            for name, ratio in above:
                operation, elements = name.split(" ")
                slow.rows.append([Entry(text) for text in (contender, *where, operation, elements, f"{ratio:.2f}")])
    return [counts, slow]


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.bars(cells, "operations", "Time of an operation, mean of all operations and sizes")


EXPERIMENT = Experiment(
    title="Every operation",
    question="Which operations take longer than std::vector's, for which elements and sizes?",
    document="Headroom's own",
    method=(
        "The compiler that built the lab compiles a program for each container and kind of element, with its code at four places in "
        "memory, that times every operation with 1 to 100,000 elements."
    ),
    limits="One or four elements in settled_vector: its first page costs more than a block of the heap.",
    contests=(Contest("time", "mean time of an operation", "the mean of all operations of a vector", "vector rather than settled_vector"),),
    reading="Lower is better.",
    pictures=pictures,
    beside=beside,
    place=48,
)
