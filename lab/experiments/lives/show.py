# SPDX-License-Identifier: MIT
"""Many lives in one allocator: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell

YARDSTICK = "std::allocator AS1"


def _panel(cell: Cell) -> str:
    return f"{cell.parameters.get('container')}, order: {cell.parameters.get('order')}"


EXPERIMENT = Experiment(
    title="Many lives",
    question="Does an allocator stay as fast as it was, when containers live and die in it again and again?",
    document="Headroom's own",
    method=(
        "One resource; in it a container is built, read through and destroyed, again and again. Elements come in the order in which "
        "the container holds them (insertion), at random, or as a hash scatters them; a list is sorted before it dies. The median "
        "life after the first counts, for an element."
    ),
    limits="Nothing else lives in the resource meanwhile.",
    contests=(
        Contest("time", "a later life", "later lives of containers in one multipool, against the best malloc", "mimalloc, preloaded"),
        Contest("read", "reading it through",
                "reading a list or a map whose blocks one pool has mixed, after many lives",
                "a fresh resource for a container that is read often"),
    ),
    more=(
        Contest("time_first", "the first life"),
        Contest("ageing", "a later life divided by the first"),
        Contest("read_first", "reading through the first"),
    ),
    reading="Time divided by std::allocator's; under the line is faster. Both axes are logarithmic.",
    yardstick=YARDSTICK,
    pictures=values.against(
        "lives", "Time of a container's later lives in one allocator, divided by std::allocator's", "elements", YARDSTICK, _panel
    ),
    by_strategy=True,
    alike=False,
    place=190,
)
