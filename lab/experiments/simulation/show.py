# SPDX-License-Identifier: MIT
"""Simulation: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import charts, values
from headroom_report.pictures.charts import Picture
from headroom_report.results import words
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment, Limit
from headroom_report.results.figures import PAIRED, Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    lines = []
    for cell in cells:
        iterations, below = cell.parameters.get("iterations"), cell.sequence(YARDSTICK, "time_by_iteration") or ()
        for name in cell.contenders:
            until = cell.sequence(name, "time_by_iteration") or ()
            if name.endswith(PAIRED) or not isinstance(iterations, int):
                continue
            for stretch, (seconds, against) in enumerate(zip(until, below), start=1):
                if seconds > 0 and against > 0 and stretch % 2 == 0:
                    ratio = charts.short(seconds / against)
                    drawn = {"x": iterations * stretch // len(until), "y": ratio, "low": ratio, "high": ratio}
                    told = {"where": words.configuration(cell.parameters), "text": f"{words.ratio(ratio)} times {YARDSTICK}'s; {words.seconds(seconds)}"}
                    lines.append({"contender": name, "panel": values.element(cell), **drawn, **told})
    iterations = {cell.parameters.get("iterations") for cell in cells}
    after = f", {iterations.pop()} iterations" if len(iterations) == 1 else ""
    return [
        *values.bars(cells, "simulation", f"Time of all actions{after}, divided by std::vector's", values.element, yardstick=YARDSTICK),
        charts.sweep(
            "simulation-iterations",
            "Time in all actions up to an iteration, divided by std::vector's",
            lines,
            "iterations",
            "iterations",
            "÷ std::vector",
            "",
            1.0,
        ),
    ]


EXPERIMENT = Experiment(
    title="Simulation",
    question="How do vectors fare in a program that does everything with them, with many of them alive at once?",
    document="A fast vector with mremap",
    method=(
        "A vector of vectors is kept for each element type. Every iteration does one of six actions, drawn at random with "
        "the thesis's seeds: construct, push_back, pop_back, copy, insert, erase. Each action is timed; the vector of vectors "
        "is of the kind under test too."
    ),
    limits=(
        "Vectors that ask the system for memory when they are made or copied pay for it here: most vectors are small when they "
        "begin. Nothing else is allocated, which is kinder to memory than real programs are."
    ),
    contests=(
        Contest("time", "all actions", "the random simulation of a vector's life"),
        Contest("push_back", "push_back", "appending within the random simulation"),
        Contest("construct", "construct"),
        Contest("copy", "copy",
                "copying in the random simulation: the others copy into blocks that their vectors outgrew, Headroom's grow in place and leave none",
                limit=Limit("the first touch of 16 pages", "commit-cost", {"pages": 16}, "first_touch", "call_p50")),
        Contest("insert", "insert"),
        Contest("erase", "erase"),
        Contest("pop_back", "pop_back"),
    ),
    reading="Time divided by std::vector's, for each type of element; under 1 is faster. What each action takes stands in the tables.",
    pictures=pictures,
    place=100,
)
