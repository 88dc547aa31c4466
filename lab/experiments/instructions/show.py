# SPDX-License-Identifier: MIT
"""Instructions: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.bars(cells, "instructions", "Instructions of one append", metric="instructions")

EXPERIMENT = Experiment(
    title="Instructions",
    question="How many instructions does an append take in the common case?",
    document="Headroom's own",
    method="Instructions are counted, not timed: an append that does not grow.",
    limits="Fewer instructions are not always less time.",
    contests=(Contest("instructions", "instructions", "instructions of an append", "vector rather than settled_vector"),),
    reading="Lower is better.",
    pictures=pictures,
    place=70,
)
