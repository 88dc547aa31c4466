"""What experiments draw in common: a cell and a contender in, a point of a picture out, or nothing where there is no figure."""

from __future__ import annotations

from ..results import words
from ..results.figures import PAIRED, Cell
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


def one_bar_each(cells: list[Cell], metric: str, name: str, title: str, unit: str) -> list[Picture | None]:
    values = {}
    for cell in cells:
        for contender in cell.contenders:
            figure = cell.figure(contender, metric)
            if figure and not contender.endswith(PAIRED):
                values[contender] = figure.median
    return [charts.bars(name, title, values, unit)]
