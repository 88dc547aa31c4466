# SPDX-License-Identifier: MIT
"""The tables of “Reserve and commit” beside ours, row by row."""

from __future__ import annotations

from ..results import published, words
from ..results.catalogue import DEFAULT, PAGE_BY_PAGE, YARDSTICK
from ..results.figures import Cell
from ..verdicts.claims import matches
from .measured import ending
from .table import Entry, Table, numbers, quotient, texts


def beside(cells: list[Cell], table_id: str, column: str, metric: str, what: str) -> list[Table]:
    """The document's ratio DynArray / std::vector beside ours. What the ratios are of stands in the tables of the experiment and of the
    document."""
    source = published.tables()[table_id]
    keys = [name for name in ("optimisation", "elements", "element") if name in source.columns]
    table = Table(
        texts("what") + numbers("published", "page by page, here", "Headroom's default, here"),
        caption=f"{what} divided by std::vector's: published (Linux) and here",
        notes=[f"Published on: {source.machines['Linux']}. “Page by page” is {PAGE_BY_PAGE}, the document's DynArray."],
    )
    left_out = 0
    rows = [record for record in source.records({"system": "Linux"}) if record["contender"] == "DynArray"]
    rows.sort(key=lambda record: words.order({name: record[name] for name in keys}))
    for record in rows:
        where = {name: record[name] for name in keys}
        (other,) = source.records({**where, "system": "Linux", "contender": "std::vector"})
        cell = next((cell for cell in cells if matches(cell.parameters, {**where, "warm": False})), None)
        if cell is None:
            left_out += 1
            continue
        known = record[column] is not None and other[column]
        there = quotient(record[column] / other[column]) if known else Entry(f"{record['outcome']} / {other['outcome']}", "bad")
        ours = [quotient(found.median) if (found := cell.ratio(metric, name, YARDSTICK)) else ending(cell, name) for name in (PAGE_BY_PAGE, DEFAULT)]
        table.rows.append([Entry(words.configuration(where)), there, *ours])
    if left_out:
        table.notes.append(
            f"{left_out} more configurations of the document were not run here; they stand in its table below."
        )
    return [table]
