# SPDX-License-Identifier: MIT
"""Vectors in turn: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment

EXPERIMENT = Experiment(
    title="Vectors in turn",
    question="What do vectors of other sizes cost each other that are built and dropped in turn, again and again?",
    document="Headroom's own",
    method=(
        "A round builds a vector and drops it, then another one of another size, or that while the first is alive. The figure is the "
        "processor time of the median round after the first four."
    ),
    limits="Ints only, and two vectors in a round.",
    contests=(Contest("time", "time of a round", "vectors of several sizes that come and go"),),
    more=(Contest("page_faults", "page faults of a round"),),
    reading="Time divided by std::vector's; under the line is faster.",
    pictures=values.against("turns", "Time of a round, divided by std::vector's", "bytes", YARDSTICK),
    place=42,
)
