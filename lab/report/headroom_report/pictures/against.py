"""A picture that several experiments draw alike: a metric divided by the yardstick's, over a size."""

from __future__ import annotations

from typing import Callable

from ..results.figures import Cell
from . import charts, values
from .charts import Picture


def pictures(
    name: str, title: str, size: str, yardstick: str, across: Callable[[Cell], str] | None = None
) -> Callable[[list[Cell]], list[Picture | None]]:
    """What an experiment's `pictures` may be; `across` names the panel that a cell belongs in."""

    def drawn(cells: list[Cell]) -> list[Picture | None]:
        rows = charts.rows_over(cells, size, values.ratio_to(yardstick, "time"), across, "time")
        panel = "panel" if across else None
        return [charts.sweep(name, title, rows, size, size, "÷ " + yardstick.split(" ")[0], "", panel, y_line=1.0)]

    return drawn
