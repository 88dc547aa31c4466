"""The tables of “Reserve and commit” beside ours, row by row, and in words where the two agree and where they do not."""

from __future__ import annotations

from ..results import published, words
from ..results.catalogue import DEFAULT, PAGE_BY_PAGE, YARDSTICK
from ..verdicts.claims import matches
from .measured import ending
from .p0089 import decided, same_side, verdict_of
from .section import Section
from .table import NOTHING, Entry, Table, numbers, quotient, texts


def beside(section: Section, table_id: str, column: str, metric: str, what: str) -> None:
    """The document's ratio DynArray / std::vector beside ours, row by row, and in how many rows the order is the same. What the
    ratios are of stands in the tables of the experiment and of the document."""
    source = published.tables()[table_id]
    keys = [name for name in ("optimisation", "elements", "element") if name in source.columns]
    table = Table(
        texts("what") + numbers("published", "page by page, here", "Headroom's default, here") + texts("same order?"),
        caption=f"{what} divided by std::vector's: published (Linux) and here",
        notes=[f"Published on: {source.machines['Linux']}. “Page by page” is {PAGE_BY_PAGE}, the document's DynArray."],
    )
    outcomes: list[bool | None] = []
    left_out = 0
    rows = [record for record in source.records({"system": "Linux"}) if record["contender"] == "DynArray"]
    rows.sort(key=lambda record: words.order({name: record[name] for name in keys}))
    for record in rows:
        where = {name: record[name] for name in keys}
        (other,) = source.records({**where, "system": "Linux", "contender": "std::vector"})
        cell = next((cell for cell in section.cells if matches(cell.parameters, {**where, "warm": False})), None)
        if cell is None:
            left_out += 1
            continue
        there = record[column] / other[column] if record[column] is not None and other[column] else None
        here, ours = (quotient(found.median) if (found := cell.ratio(metric, name, YARDSTICK)) else ending(cell, name) for name in (PAGE_BY_PAGE, DEFAULT))
        same = same_side(there, decided(cell, PAGE_BY_PAGE, YARDSTICK, section, metric))
        both = there is not None and cell.figure(PAGE_BY_PAGE, metric) and cell.figure(YARDSTICK, metric)
        outcomes += [same] if both else []
        published_here = quotient(there) if there is not None else Entry(f"{record['outcome']} / {other['outcome']}", "bad")
        table.rows.append([Entry(words.configuration(where)), published_here, here, ours, verdict_of(same) if both else NOTHING])
    if left_out:
        table.notes.append(
            f"{left_out} more configurations of the document were not run here; they stand in its table below."
        )
    if table.rows:
        section.beside.append(table)
    if total := len(outcomes) - outcomes.count(None):
        undecided = f" {outcomes.count(None)} more are undecided: fewer than three rounds, or within the noise." if None in outcomes else ""
        section.agreement.append(
            f"{what}: in {outcomes.count(True)} of {total} configurations that the document has for Linux and that were run here, the "
            f"page-by-page array and std::vector stand in the same order as in the document.{undecided}"
        )
