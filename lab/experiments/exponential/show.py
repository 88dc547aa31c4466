# SPDX-License-Identifier: MIT
"""Exponential: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results import words
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell


def _where(cell: Cell) -> str:
    terms = cell.parameters.get("elements")
    return f"{words.power(terms) if isinstance(terms, int) else terms} terms, {words.counted(cell.parameters.get('processors'), 'processor')}"


def pictures(cells: list[Cell]) -> list[Picture | None]:
    title = "Time of a sum by three threads, divided by that of the document's mutexes and signs"
    return values.bars(cells, "exponential", title, _where, yardstick="mutexes and signs")


EXPERIMENT = Experiment(
    title="Exponential",
    question="What does a pipeline of three threads cost, by how its threads hand over their results?",
    document="Vector reallocation strategies",
    method=(
        "The document's program: a thread computes the powers of x, one the factorials, and a third adds up their quotients, in GMP's "
        "numbers of 256 bits. Its mutexes and signs hand over one number at a time (O(1) memory); the others keep all of them, and "
        "differ in how the third thread learns that there is one more. Elapsed time with as many processors as said; every sum has "
        "the digits of one thread's."
    ),
    limits=(
        "A term takes a tenth of a microsecond, so that what is measured is handing over: one thread alone takes less time than any "
        "pipeline, because no term is work enough for a thread of its own."
    ),
    contests=(Contest("time", "time of a sum", "a pipeline of threads that hand over numbers"),),
    more=(Contest("cpu", "processor time of a sum"), Contest("switches", "times a thread gave up or lost its processor"),
          Contest("spins", "times a thread looked for work in vain"), Contest("peak_resident", "peak of resident memory")),
    reading="Divided by the document's own way; under 1 is faster.",
    yardstick="mutexes and signs",
    no_choice=frozenset({"one thread"}),
    pictures=pictures,
    place=176,
)
