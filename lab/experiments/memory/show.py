# SPDX-License-Identifier: MIT
"""Memory: what the report shows of it."""

from __future__ import annotations

from dataclasses import replace

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results import words
from headroom_report.results.catalogue import Answer, Contest, Experiment, Matter
from headroom_report.results.figures import Cell
from headroom_report.tables import dynarray
from headroom_report.tables.table import Table
from headroom_report.verdicts.claims import least


def pictures(cells: list[Cell]) -> list[Picture | None]:
    def value(cell: Cell, contender: str):
        peak, base, payload = (cell.figure(contender, metric) for metric in ("peak_resident", "baseline", "payload"))
        if not (peak and base and payload) or not payload.median:
            return None
        low, middle, high = ((figure - base.median) / payload.median for figure in (peak.low, peak.median, peak.high))
        return replace(peak, median=middle, low=low, high=high), f"{words.ratio(middle)} bytes for each byte; peak {words.figure(peak)}"

    title = "Memory at the peak for each byte of elements"
    return [values.over(cells, "memory", title, "elements", value, "bytes of memory per byte", "", line=1.0)]


def beside(cells: list[Cell]) -> list[Table]:
    return dynarray.beside(
        cells, "reserve_and_commit_memory", "peak_resident_bytes", "peak_resident", "Peak resident memory"
    )

EXPERIMENT = Experiment(
    title="Memory",
    question="How much memory does building an array take at its peak, when its size is not known?",
    document="Reserve and commit",
    method=(
        "The peak of resident memory of a process that builds one array of ints, less what the process held before the array "
        "was begun, divided by the bytes of its elements."
    ),
    limits=(
        "Resident memory is what was touched: memory that a container asked for and never touched does not show here, though "
        "systems without overcommit charge for it."
    ),
    contests=(Contest("peak_resident", "peak resident memory", "memory of one array at the peak"),),
    more=(Contest("unused", "capacity beyond the elements"),),
    reading="Bytes of memory at the peak for each byte of elements; 1 is perfect. Both axes are logarithmic.",
    answers=(
        Answer(
            "memory",
            "memory at the peak",
            "peak_resident",
            {"elements": least(10**6)},
            ("large", "small"),
            less="baseline",
            over="payload",
        ),
    ),
    pictures=pictures,
    beside=beside,
    matters=(Matter("memory", "the peak of memory", "peak_resident", "elements", {}, place=40),),
    place=30,
)
