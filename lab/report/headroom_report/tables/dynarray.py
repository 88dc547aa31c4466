"""The tables of “Reserve and commit” beside ours, row by row, and in words where the two agree and where they do not."""

from __future__ import annotations

from ..results import published, words
from ..results.catalogue import DEFAULT, PAGE_BY_PAGE, YARDSTICK
from ..verdicts.claims import matches
from .measured import ending
from .p0089 import decided, same_side, verdict_of
from .section import Section
from .table import NOTHING, Entry, Table, numbers, quantity, quotient, texts


def beside(
    section: Section, table_id: str, column: str, metric: str, unit: str, what: str, system: str = "Linux"
) -> None:
    """The document's ratio DynArray / std::vector beside ours, row by row, and in how many rows the order is the same."""
    source = published.tables()[table_id]
    keys = [name for name in ("optimisation", "elements", "element") if name in source.columns]
    table = Table(
        texts("what")
        + numbers("DynArray, published", "std::vector, published", "ratio, published", "page by page, here", "std::vector, here", "ratio, here")
        + numbers("Headroom's default, ratio here")
        + texts("same order?"),
        caption=f"{what}: published ({system}) and here",
        notes=[f"Published on: {source.machines[system]}. “Page by page” is {PAGE_BY_PAGE}, the document's DynArray."],
    )
    agree, undecided, differ = 0, 0, []
    left_out = 0
    rows = [record for record in source.records({"system": system}) if record["contender"] == "DynArray"]
    rows.sort(key=lambda record: words.order({name: record[name] for name in keys}))
    for record in rows:
        where = {name: record[name] for name in keys}
        (other,) = source.records({**where, "system": system, "contender": "std::vector"})
        cell = next((cell for cell in section.cells if matches(cell.parameters, {**where, "warm": False})), None)
        if cell is None:
            left_out += 1
            continue
        there = record[column] / other[column] if record[column] is not None and other[column] else None
        here, ours = (cell.ratio(metric, name, YARDSTICK) for name in (PAGE_BY_PAGE, DEFAULT))
        label = words.configuration(where)
        same = same_side(there, decided(cell, PAGE_BY_PAGE, YARDSTICK, section, metric))
        if there is not None and here is not None:
            undecided += same is None
            agree += same is True
            if same is False:
                differ.append(f"{label}: {words.ratio(there)} published, {words.ratio(here.median)} here")
        mine = [
            quantity(figure) if (figure := cell.figure(name, metric)) else ending(cell, name) for name in (PAGE_BY_PAGE, YARDSTICK)
        ]
        ratios = [quotient(one.median if one else None) for one in (here, ours)]
        published_here = [_there(record, column, unit), _there(other, column, unit), quotient(there)]
        verdict = verdict_of(same) if there is not None and here is not None else NOTHING
        table.rows.append([Entry(label), *published_here, *mine, *ratios, verdict])
    if left_out:
        table.notes.append(
            f"{left_out} more configurations of the document were not run here; they stand in its table below."
        )
    if table.rows:
        section.beside.append(table)
    total = agree + len(differ)
    if total:
        section.agreement.append(
            f"{what}: in {agree} of {total} configurations that the document has for {system} and that were run here, the "
            f"page-by-page array and std::vector stand in the same order as in the document."
            + (f" {undecided} more are undecided: fewer than three rounds, or within the noise." if undecided else "")
        )
        section.agreement += [f"Otherwise than published: {text}." for text in differ]


def _there(record: dict, column: str, unit: str) -> Entry:
    if record[column] is None:
        return Entry(str(record["outcome"]), "bad")
    return Entry(words.quantity(record[column], unit))
