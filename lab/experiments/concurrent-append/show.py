# SPDX-License-Identifier: MIT
"""Concurrent append: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell


def _batch(parameters: dict[str, object]) -> str:
    return "one by one" if parameters.get("batch") == 1 else f"batches of {parameters.get('batch')}"


def pictures(cells: list[Cell]) -> list[Picture | None]:
    def panel(cell: Cell) -> str:
        return f"{cell.parameters.get('element')}, {_batch(cell.parameters)}"

    return [values.over(cells, "concurrent-append", "Time of an append to one array", "threads", values.of_metric("time"), "time", "s", panel)]


EXPERIMENT = Experiment(
    title="Concurrent append",
    question="What does an append cost when several threads append to one array?",
    document="Headroom's own",
    method=(
        "Threads that are there already append 2¹⁸ elements in all, each its share, one by one or in batches; the time is what a "
        "clock on the wall shows until all elements are where they shall be, divided by their number, with warm memory. Vectors of "
        "each thread's own are concatenated within that time."
    ),
    limits=(
        "Threads do nothing but append, so they meet more often than in most programs. On a machine with other work, figures of "
        "two threads are those of one after the other."
    ),
    contests=(
        Contest("time", "time of an append",
                "one thread alone, or few long appends, to an array that threads share",
                "a mutex and std::vector, where appends seldom meet; a vector for each thread, where nobody reads before the end"),
    ),
    more=(Contest("time_first", "the first time, with fresh memory"), Contest("worst", "the slowest run divided by the median")),
    reading="Time of an append over the number of threads; lower is better.",
    yardstick="std::vector, mutex",
    # It appends to arrays of its own, which nobody can read before the end: no answer to the question.
    no_choice=frozenset({"std::vector per thread, concatenated"}),
    pictures=pictures,
    place=175,
)
