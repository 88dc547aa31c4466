# SPDX-License-Identifier: MIT
"""Threads with blocks of their own: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.results.catalogue import Contest, Experiment

YARDSTICK = "std::allocator AS1"

EXPERIMENT = Experiment(
    title="Threads with blocks of their own",
    question="What do threads cost each other that share an allocator, but not their blocks?",
    document="Headroom's own",
    method=(
        "Each thread keeps 5,000 blocks of eight sizes; in each turn one, drawn at random, is given back and another allocated in its "
        "place. Time on the wall, for a turn."
    ),
    limits="More threads than processors take turns on them.",
    contests=(
        Contest("time", "time", "threads that share one pool but no blocks", "a pool for each thread; or mimalloc, preloaded"),
        Contest("peak_resident", "peak of resident memory"),
    ),
    reading="Time divided by std::allocator's; under the line is faster.",
    yardstick=YARDSTICK,
    pictures=values.against("own-blocks", "Time of a turn, divided by std::allocator's", "W", YARDSTICK),
    by_strategy=True,
    alike=False,
    place=192,
)
