"""What experiments draw in common: a cell and a contender in, a point of a picture out, or nothing where there is no figure."""

from __future__ import annotations

from ..results import words
from ..results.figures import PAIRED, Cell
from ..results.strategies import is_floor, plain
from . import charts
from .charts import Picture


def per_element(cell: Cell, contender: str):
    figure = cell.figure(contender, "time")
    if figure is None:
        return None
    count = cell.parameters["elements"]
    return (
        figure.median / count,
        figure.low / count,
        figure.high / count,
        f"{words.seconds(figure.median / count)} an element; {words.figure(figure)}",
    )


def element(cell: Cell) -> str:
    return str(cell.parameters.get("element"))


def of_metric(metric: str):
    """A metric's own figure."""

    def value(cell: Cell, contender: str):
        figure = cell.figure(contender, metric)
        return None if figure is None else (figure.median, figure.low, figure.high, words.figure(figure))

    return value


def ratio_to(yardstick: str, metric: str):
    """A metric's figure divided by the yardstick's in the same cell."""

    def value(cell: Cell, contender: str):
        ratio, figure = cell.ratio(metric, contender, yardstick), cell.figure(contender, metric)
        if ratio is None or figure is None:
            return None
        return ratio.median, ratio.low, ratio.high, words.figure(figure)

    return value


def samples(cell: Cell, metric: str) -> dict[str, tuple]:
    """Each contender's histogram: values and counts."""
    found = {name: cell.histogram(name, metric) for name in cell.contenders if not name.endswith(PAIRED)}
    return {name: (histogram.values, histogram.counts) for name, histogram in found.items() if histogram}


def over(cells: list[Cell], name: str, title: str, size: str, value, y_title: str, unit: str, across=None, metric: str = "time", line: float | None = None,
         x_title: str = "") -> Picture | None:
    """Lines over a size, one panel for each value of `across`: what most experiments draw."""
    rows = charts.rows_over(cells, size, value, across, metric)
    return charts.sweep(name, title, rows, size, x_title or size, y_title, unit, "panel" if across else None, y_line=line)


def against(name: str, title: str, size: str, yardstick: str, across=None):
    """What an experiment's `pictures` may be: its time divided by the yardstick's, over a size."""
    by = yardstick.split(" ")[0]
    return lambda cells: [over(cells, name, title, size, ratio_to(yardstick, "time"), f"÷ {by}", "", across, line=1.0)]


def bar_rows(cells: list[Cell], panel, metric: str = "time", yardstick: str = "") -> list[dict]:
    """A bar for each contender in a panel for each cell: its figure, or its quotient by the yardstick's with the figure behind it."""
    rows = []
    for cell in cells:
        for name in cell.contenders:
            figure = cell.figure(name, metric)
            ratio = cell.ratio(metric, name, yardstick) if yardstick else figure
            if figure is None or ratio is None or name.endswith(PAIRED) or is_floor(name):
                continue
            said = f"{words.ratio(ratio.median)}  ({words.quantity(figure.median, figure.unit)})" if yardstick else f"{figure.median:.0f}"
            rows.append({"contender": plain(name), "panel": panel(cell), "value": charts.short(ratio.median), "text": said, "hover": words.figure(figure)})
    return rows


def one_bar_each(cells: list[Cell], metric: str, name: str, title: str, unit: str) -> list[Picture | None]:
    values = {}
    for cell in cells:
        for contender in cell.contenders:
            figure = cell.figure(contender, metric)
            if figure and not contender.endswith(PAIRED):
                values[contender] = figure.median
    return [charts.bars(name, title, values, unit)]
