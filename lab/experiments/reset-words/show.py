# SPDX-License-Identifier: MIT
"""Reset words: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment
from headroom_report.results.figures import Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.bars(cells, "reset-words", "Time of all searches, divided by std::vector's", yardstick=YARDSTICK)


EXPERIMENT = Experiment(
    title="Reset words",
    question="What does a change of vector gain a real program?",
    document="A fast vector with mremap",
    method=(
        "The program searches for the shortest word that takes an automaton from every state to the same one, for random "
        "binary automata. Its vectors are a template parameter; what is searched, and how much of it, is the same for all, "
        "and every word is checked."
    ),
    limits=(
        "The thesis's program is not public; this one is after the same paper. Most of its time goes into comparing sets, so a "
        "vector can gain only what growing costs."
    ),
    contests=(Contest("time", "time of all searches"),),
    more=(Contest("loop_cpu", "processor time"),),
    reading="Time divided by std::vector's; under 1 is faster.",
    pictures=pictures,
    place=120,
)
