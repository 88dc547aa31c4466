# SPDX-License-Identifier: MIT
"""What experiments draw in common: a cell and a contender in, a row of a picture's data out, or nothing where there is no figure."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from ..results import words
from ..results.figures import PAIRED, Cell
from ..results.strategies import STRATEGIES, implementation, is_floor, plain, strategy
from . import charts, grids
from .charts import Picture


def rows(cells: list[Cell], value, panel=None, x: str = "") -> list[dict]:
    """A row for each contender in each cell: `value` gives the figure, the words for hovering, and for bars those that stand beside.
    `x`: the parameter that is the size, where there is one."""
    found = []
    for cell in cells:
        size = cell.parameters.get(x)
        if x and not isinstance(size, (int, float)):
            continue
        for contender in cell.contenders:
            own = None if contender.endswith(PAIRED) else value(cell, contender)
            if own is None:
                continue
            figure, text, *label = own
            row = {"contender": plain(contender), "y": charts.short(figure.median), "text": text}
            if x:
                row |= {"x": size, "low": charts.short(figure.low), "high": charts.short(figure.high), "where": words.configuration(cell.parameters)}
            if label:
                (row["label"],) = label
            if panel:
                row["panel"] = panel(cell)
            found.append(row)
    return found


def by_kind(cells: list[Cell], x: str) -> list[dict]:
    """One panel for each kind of resource (bound at compile time), the global allocator in all."""
    found = []
    for kind in ("AS3", "AS7", "AS11"):
        own = [replace(cell, runs={name: runs for name, runs in cell.runs.items() if strategy(name) in ("AS1", kind)}) for cell in cells]
        found += rows(own, of_metric("time"), lambda _, kind=kind: STRATEGIES[kind].kind, x)
    return found


def per_element(cell: Cell, contender: str):
    figure = cell.figure(contender, "time")
    if figure is None:
        return None
    each = figure.times(1 / cell.parameters["elements"])
    return each, f"{words.seconds(each.median)} an element; {words.figure(figure)}"


def element(cell: Cell) -> str:
    return str(cell.parameters.get("element"))


def of_metric(metric: str):
    """A metric's own figure."""

    def value(cell: Cell, contender: str):
        figure = cell.figure(contender, metric)
        return None if figure is None else (figure, words.figure(figure))

    return value


def ratio_to(yardstick: str):
    """The time divided by the yardstick's in the same cell."""

    def value(cell: Cell, contender: str):
        ratio = cell.ratio("time", contender, yardstick)
        return None if ratio is None else (ratio, f"{words.ratio(ratio.median)} times {implementation(yardstick)}'s; {words.figure(cell.figure(contender, 'time'))}")

    return value


def histograms(cell: Cell, name: str, title: str, metric: str, x_title: str) -> Picture | None:
    """How many samples took how long, four points to a decade; what is below a nanosecond is below what the clock can tell."""
    found = []
    for contender in cell.contenders:
        histogram = None if contender.endswith(PAIRED) else cell.histogram(contender, metric)
        bins: Counter[int] = Counter()
        for value, count in zip(histogram.values, histogram.counts) if histogram else ():
            bins[math.floor(math.log10(max(value, 1e-9)) * 4 + 1e-9)] += count
        for index, count in sorted(bins.items()):
            low, high = charts.short(10 ** (index / 4)), 10 ** ((index + 1) / 4)
            said = {"where": f"{words.seconds(low)} … {words.seconds(high)}", "text": f"{count:,.0f}"}
            found.append({"contender": contender, "x": low, "y": count, "low": count, "high": count, **said})
    return charts.sweep(name, title, found, "seconds", x_title, "how many", "")


def over(cells: list[Cell], name: str, title: str, size: str, value, y_title: str, unit: str, across=None, line: float | None = None,
         x_title: str = "") -> Picture | None:
    """Lines over a size, one panel for each value of `across`: what most experiments draw."""
    return charts.sweep(name, title, rows(cells, value, across, size), size, x_title or size, y_title, unit, line)


def against(name: str, title: str, size: str, yardstick: str, across=None):
    """What an experiment's `pictures` may be: its time divided by the yardstick's, over a size."""
    by = yardstick.split(" ")[0]
    return lambda cells: [over(cells, name, title, size, ratio_to(yardstick), f"÷ {by}", "", across, line=1.0)]


def bars(cells: list[Cell], name: str, title: str, panel=lambda cell: words.configuration(cell.parameters), metric: str = "time", yardstick: str = "") -> list:
    """A bar for each contender, in a panel for each cell: its figure, or its quotient by the yardstick's with the figure behind it."""

    def value(cell: Cell, contender: str):
        figure = cell.figure(contender, metric)
        ratio = cell.ratio(metric, contender, yardstick) if yardstick else figure
        if figure is None or ratio is None or is_floor(contender):
            return None
        said = words.quantity(figure.median, figure.unit)
        return ratio, words.figure(figure), f"{words.ratio(ratio.median)}  ({said})" if yardstick else said

    found = rows(cells, value, panel)
    return [grids.panel_bars(name, title, found, f"÷ {yardstick}" if yardstick else metric, 1.0 if yardstick else None)]
