"""Seconds in each action of the random simulation, for the experiments that run it."""

from __future__ import annotations

from ..results import words
from ..results.catalogue import YARDSTICK
from ..results.figures import PAIRED, Cell
from . import charts

ACTIONS = ["construct", "push_back", "pop_back", "copy", "insert", "erase"]


def by_action(cells: list[Cell], panel) -> list[dict]:
    rows = []
    for cell in cells:
        for name in cell.contenders:
            for action in ACTIONS:
                figure = cell.figure(name, action)
                if figure is None or name.endswith(PAIRED):
                    continue
                against = cell.ratio(action, name, YARDSTICK)
                rows.append(
                    {
                        "contender": name,
                        "panel": panel(cell),
                        "part": action,
                        "value": charts.short(figure.median),
                        "text": words.figure(figure),
                        "against": words.ratio(against.median) if against else "—",
                    }
                )
    return rows
