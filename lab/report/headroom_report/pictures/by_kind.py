"""Lines over a size, one panel for each kind of P0089R0's resources."""

from __future__ import annotations

from ..results import words
from ..results.figures import PAIRED, Cell
from ..results.strategies import GLOBAL, implementation, strategy
from . import charts

KIND_TITLES = {"AS3": "monotonic", "AS7": "multipool", "AS11": "multipool over monotonic"}


def sweep_by_kind(cells: list[Cell], x: str, unpower: bool) -> list[dict]:
    """One panel for each kind of resource (bound at compile time), the global allocator in all."""
    rows = []
    for cell in cells:
        size = cell.parameters.get(x)
        if not isinstance(size, int):
            continue
        for name in cell.contenders:
            kind = strategy(name)
            if name.endswith(PAIRED) or kind not in ("AS1", *KIND_TITLES):
                continue
            figure = cell.figure(name, "time")
            if figure is None:
                continue
            against = cell.ratio("time", name, GLOBAL)
            for panel in (KIND_TITLES[kind],) if kind != "AS1" else KIND_TITLES.values():
                rows.append(
                    {
                        "contender": implementation(name),
                        "x": 1 << size if unpower else size,
                        "y": charts.short(figure.median),
                        "low": charts.short(figure.low),
                        "high": charts.short(figure.high),
                        "text": words.figure(figure),
                        "where": words.configuration(cell.parameters),
                        "against": words.ratio(against.median) if against else "—",
                        "panel": panel,
                    }
                )
    order = list(KIND_TITLES.values())
    return sorted(rows, key=lambda row: order.index(row["panel"]))
