# SPDX-License-Identifier: MIT
"""Levels of optimisation: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment
from headroom_report.results.figures import Cell


def _workload(cell: Cell) -> str:
    return f"{cell.parameters.get('workload')} {cell.parameters.get('element')}, -{cell.parameters.get('optimisation')}"


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return [
        values.over(cells, "optimisation", "Time at each level of optimisation, divided by std::vector's", "elements",
                    values.ratio_to(YARDSTICK), "÷ std::vector", "", _workload, line=1.0)
    ]


EXPERIMENT = Experiment(
    title="Levels of optimisation",
    question="Does what everyday says hold at -O1 and -O3, too?",
    document="Headroom's own",
    method="The workloads of everyday work that are one vector's life, in programs built at -O1, -O2 and -O3, loops aligned.",
    limits="One compiler: the one that the lab was built with.",
    contests=(Contest("time", "time", "lives of vectors at other levels of optimisation"),),
    more=(Contest("time_first", "the first in the process"),),
    reading="Time divided by std::vector's; under the line is faster. Both axes are logarithmic.",
    pictures=pictures,
    place=46,
)
