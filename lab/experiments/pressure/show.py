# SPDX-License-Identifier: MIT
"""Short memory: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results import words
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment
from headroom_report.results.figures import Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    def limit(cell: Cell) -> str:
        return words.parameter("limit", cell.parameters.get("limit", 0))

    return values.bars(cells, "pressure", "Time of all actions while memory is short, divided by std::vector's", limit, yardstick=YARDSTICK)


EXPERIMENT = Experiment(
    title="Short memory",
    question="How do vectors fare in a program whose memory does not fit, with swap behind it?",
    document="A fast vector with mremap",
    method=(
        "The simulation with three element types, in a control group that may have 8/11 of the memory that std::vector needs for "
        "it (the thesis: 8 GB for 11), with a swap file for the rest. Where the system does not allow that, it is not run."
    ),
    limits=(
        "How fast the disk is decides by how much vectors differ: a fast one hides much of what the thesis saw. All have the same "
        "limit, so who needs less is short of less."
    ),
    contests=(
        Contest("time", "all actions"),
        Contest("push_back", "push_back"),
    ),
    more=(
        Contest("disk_faults", "faults that read from the disk"),
        *(Contest(action, action) for action in ("construct", "copy", "insert", "erase", "pop_back")),
    ),
    reading="Time divided by std::vector's; under 1 is faster.",
    pictures=pictures,
    place=110,
)
