"""Instructions of an allocation: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import charts, grids
from headroom_report.pictures.charts import Picture
from headroom_report.results import words
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import PAIRED, Cell
from headroom_report.results.strategies import implementation


def pictures(cells: list[Cell]) -> list[Picture | None]:
    rows = []
    for cell in cells:
        for name in cell.contenders:
            figure = cell.figure(name, "instructions")
            if figure is None or name.endswith(PAIRED):
                continue
            text = f"{figure.median:.0f}"
            rows.append(
                {
                    "contender": implementation(name),
                    "panel": words.configuration(cell.parameters),
                    "value": charts.short(figure.median),
                    "text": text,
                    "hover": f"{text} instructions",
                }
            )
    return [
        grids.panel_bars(
            "pair-instructions",
            "Instructions of an allocation and its deallocation",
            rows,
            "instructions",
            "A bar for each allocator, for sizes known to the compiler and not.",
            None,
            310,
        )
    ]

EXPERIMENT = Experiment(
    title="Instructions of an allocation",
    question="How many instructions does an allocation take, with the deallocation of its block?",
    document="Headroom's own",
    method=(
        "Instructions are counted, not timed: sixteen blocks are in use, the oldest is given back and another allocated, bound "
        "at compile time; the size of a block is known to the compiler, or not."
    ),
    limits="Fewer instructions are not always less time: one that waits for memory costs a hundred others.",
    contests=(Contest("instructions", "instructions"),),
    reading="Lower is better.",
    yardstick="std::allocator AS1",
    pictures=pictures,
    by_strategy=True,
    place=180,
)
