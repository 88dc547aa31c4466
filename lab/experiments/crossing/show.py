# SPDX-License-Identifier: MIT
"""Blocks that cross threads: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.results.catalogue import Contest, Experiment

YARDSTICK = "std::allocator AS1"

EXPERIMENT = Experiment(
    title="Blocks that cross threads",
    question="What does a block cost that one thread allocates and another gives back?",
    document="Headroom's own",
    method=(
        "One thread allocates blocks of eight sizes and writes to them, another reads and gives them back; they go through a ring. "
        "Time on the wall, for a block."
    ),
    limits="Two threads, of which each does only one thing.",
    contests=(
        Contest("time", "time", "blocks that one thread allocates and another gives back", "mimalloc, preloaded"),
        Contest("peak_resident", "peak of resident memory", "memory of blocks that cross threads"),
    ),
    reading="Time divided by std::allocator's; under the line is faster.",
    yardstick=YARDSTICK,
    pictures=values.against("crossing", "Time of a block that crosses threads, divided by std::allocator's", "ring", YARDSTICK),
    by_strategy=True,
    alike=False,
    place=191,
)
