# SPDX-License-Identifier: MIT
"""Everyday work: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import charts, values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment, Matter
from headroom_report.results.figures import Cell

# In the picture only what a user would choose between: what he has, what he would preload, what he would change to.
SHOWN = ("std::vector", "headroom::vector", "headroom::settled_vector")


def _shown(name: str) -> bool:
    return name.split(" under ")[0] in SHOWN


def pictures(cells: list[Cell]) -> list[Picture | None]:
    pushed = [cell for cell in cells if cell.parameters.get("workload") == "push"]
    rows = values.rows(pushed, values.ratio_to(YARDSTICK), values.element, "elements")
    rows = [row for row in rows if _shown(row["contender"]) and "settled" not in row["contender"].split(" under ")[0]]
    return [
        charts.sweep(
            "everyday",
            "Time to build a vector again and again, divided by std::vector's over glibc's allocator",
            rows,
            "elements",
            "elements",
            "÷ std::vector",
            "",
            1.0,
        )
    ]


EXPERIMENT = Experiment(
    title="Everyday work",
    question="What do the ordinary things cost that programs do with vectors, and what memory do they take?",
    document="",
    method=(
        "Each workload is what its name says, in a process of its own. Those of one vector's life run in a loop, and the median "
        "batch counts; those about memory run once, and count the peak of resident memory and what is resident a second after "
        "all was dropped. std::vector and Headroom's vectors run as they are, and once more under each allocator that a user would "
        "preload instead of changing a line (“X under jemalloc”), and with glibc told to ask for huge pages (“under hugetlb”)."
    ),
    limits="One thread but for “threads”; a program that does one thing is not a program.",
    contests=(
        Contest("time", "time",
                "vectors of few elements, and vectors over another malloc", "vector or small_vector rather than settled_vector"),
        Contest("peak_resident", "peak of resident memory",
                "memory of vectors at the peak, over another malloc or of few elements", "vector rather than settled_vector; reserve()"),
    ),
    more=(Contest("time_first", "the first in the process"), Contest("resident_after", "resident a second after the drop")),
    reading="Time divided by std::vector's over glibc's allocator; under the line is faster. Both axes are logarithmic.",
    pictures=pictures,
    matters=(
        Matter("everyday-copy", "the time to copy a vector", "time", "elements", {"workload": "copy"}, place=60),
        Matter("everyday-push", "the time to fill a vector, whatever allocator is preloaded", "time", "elements", {"workload": "push"}, place=61),
    ),
    place=45,
)
