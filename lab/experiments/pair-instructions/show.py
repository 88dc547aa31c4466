# SPDX-License-Identifier: MIT
"""Instructions of an allocation: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.bars(cells, "pair-instructions", "Instructions of an allocation and its deallocation", metric="instructions")


EXPERIMENT = Experiment(
    title="Instructions of an allocation",
    question="How many instructions does an allocation take, with the deallocation of its block?",
    document="Headroom's own",
    method=(
        "Instructions are counted, not timed: sixteen blocks are in use, the oldest is given back and another allocated, bound "
        "at compile time; the size of a block is known to the compiler, or not."
    ),
    limits="Fewer instructions are not always less time: one that waits for memory costs a hundred others.",
    contests=(Contest("instructions", "instructions", "instructions of an allocation and its deallocation"),),
    reading="Lower is better.",
    yardstick="std::allocator AS1",
    pictures=pictures,
    by_strategy=True,
    place=180,
)
