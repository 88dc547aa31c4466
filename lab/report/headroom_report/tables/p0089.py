# SPDX-License-Identifier: MIT
"""P0089R0's tables beside ours: what is divided by the global allocator's time, there and here."""

from __future__ import annotations

from ..results import published, words
from ..results.figures import Cell
from ..results.strategies import GLOBAL, STRATEGIES
from .measured import ending
from .table import Entry, Table, numbers, quotient, texts

# Who plays the document's allocators: Headroom's of the same kind.
PLAYS = {
    "AS2": "std::allocator AS2",
    **{f"AS{i}": f"headroom::monotonic_resource AS{i}" for i in range(3, 7)},
    **{f"AS{i}": f"headroom::multipool_resource AS{i}" for i in range(7, 11)},
    **{f"AS{i}": f"headroom::multipool_resource over monotonic AS{i}" for i in range(11, 15)},
}
PART = (
    "Here, Headroom's monotonic resource, multipool, and multipool over monotonic play the document's allocators, and everything is divided "
    "by std::allocator's time in the same row."
)


def here_of(cell: Cell, name: str) -> float | None:
    found = cell.ratio("time", PLAYS[name], GLOBAL)
    return found.median if found else None


def percent_table(cells: list[Cell], table_id: str, keys: dict[str, str], nearest: str) -> list[Table]:
    """Percent of the global allocator's time, row by row; a row of the document that was not run is matched by its shape."""
    source = published.tables()[table_id]
    names = ("AS2", "AS3", "AS5", "AS7", "AS9", "AS11", "AS13")
    table = Table(
        texts("what", "whose") + numbers(*(STRATEGIES[name].title for name in names)),
        caption="Time divided by the global allocator's: published and here",
        notes=[PART + " " + nearest],
    )
    for cell in cells:
        here = {name: here_of(cell, name) for name in names}
        if not any(here.values()):
            continue
        what = Entry(words.configuration(cell.parameters))
        for record in source.records({column: cell.parameters.get(parameter) for column, parameter in keys.items()})[:1]:
            there = [record[f"{name} percent"] for name in names]
            table.rows.append([what, Entry("published"), *(Entry("failed", "bad") if one is None else quotient(one / 100) for one in there)])
        ours = [ending(cell, PLAYS[name]) if here[name] is None else quotient(here[name]) for name in names]
        table.rows.append([what, Entry("here"), *ours])
    return [table]
