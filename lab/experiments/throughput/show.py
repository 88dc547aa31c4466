"""Throughput: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import charts, values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Answer, Contest, Experiment, Matter
from headroom_report.results.figures import Cell
from headroom_report.tables import dynarray
from headroom_report.tables.section import Section


def pictures(cells: list[Cell]) -> list[Picture | None]:
    fresh = [cell for cell in cells if not cell.parameters.get("warm")]
    warm = [cell for cell in cells if cell.parameters.get("warm")]
    pictures = []
    for level, title in (("O2", "optimised, -O2"), ("O1", "-O1"), ("O0", "not optimised, -O0")):
        chosen = [cell for cell in fresh if cell.parameters.get("optimisation") == level]
        rows = charts.rows_over(chosen, "elements", values.per_element, values.element, "time")
        pictures.append(
            charts.sweep(
                f"throughput-{level}",
                f"Time per appended element, {title}",
                rows,
                "elements",
                "elements",
                "time per element",
                "s",
                "panel",
            )
        )
    rows = charts.rows_over(warm, "elements", values.per_element, None, "time")
    pictures.append(
        charts.sweep(
            "throughput-warm",
            "Time per appended int when the process is warm, -O2",
            rows,
            "elements",
            "elements",
            "time per element",
            "s",
        )
    )
    return pictures


def beside(section: Section) -> None:
    dynarray.beside(section, "reserve_and_commit_throughput", "seconds", "time", "s", "Time to build")

EXPERIMENT = Experiment(
    title="Throughput",
    question="How long does it take to append n elements to an empty vector whose final size is not known?",
    document="Reserve and commit",
    method=(
        "Every array is built in a process of its own, from an empty vector without reserve(), and timed on the clock from "
        "before the vector is made until after the last append. Contenders take turns, round by round. Up to 10⁴ elements "
        "the same is also measured again and again in one process. A “warm” process has built and dropped one such "
        "vector before."
    ),
    limits=(
        "One pattern of use: nothing but appending. reserve() would help std::vector where the size is known. The document "
        "took processor time, on clocks of 1 µs to 16 ms; here it is time on the clock."
    ),
    contests=(
        Contest("time", "time to build"),
        Contest("time_steady", "time to build, again and again"),
    ),
    more=(
        Contest("destroy", "time to drop"),
        Contest("loop_cpu", "processor time of all threads"),
    ),
    reading="Time per element; lower is better. Both axes are logarithmic.",
    pictures=pictures,
    answers=(
        Answer(
            "growing", "time to append, first array of a process", "time", {"element": "int", "optimisation": "O2", "warm": False}, ("small",), place=15
        ),
    ),
    in_readme=("throughput-O2",),
    beside=beside,
    matters=(
        Matter("build", "the time to build one", "time", "elements", {"optimisation": "O2", "warm": False}, place=10),
    ),
    place=10,
)
