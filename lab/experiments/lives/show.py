"""Many lives in one allocator: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import charts, values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    rows = charts.rows_over(cells, "elements", values.ratio_to("std::allocator AS1", "time"), values.element, "time")
    return [
        charts.sweep(
            "lives",
            "Time of a container's later lives in one allocator, divided by std::allocator's",
            rows,
            "elements",
            "elements",
            "÷ std::allocator",
            "",
            "panel",
            y_line=1.0,
        )
    ]


EXPERIMENT = Experiment(
    title="Many lives",
    question="Does an allocator stay as fast as it was, when containers live and die in it again and again?",
    document="Headroom's own",
    method=(
        "One resource; in it a container is built, read through and destroyed, again and again. Hash tables and trees are filled "
        "in random order, a list is sorted before it dies: what one life leaves behind is in no order. The median life after the "
        "first counts, for an element."
    ),
    limits="Nothing else lives in the resource meanwhile.",
    contests=(Contest("time", "a later life"), Contest("read", "reading it through")),
    more=(Contest("time_first", "the first life"),),
    reading="Time divided by std::allocator's; under the line is faster. Both axes are logarithmic.",
    yardstick="std::allocator AS1",
    pictures=pictures,
    by_strategy=True,
    place=190,
)
