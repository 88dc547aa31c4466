"""P0089R0's tables beside ours: what is divided by the global allocator's time, there and here."""

from __future__ import annotations

from ..results import published
from ..results.figures import Cell
from ..results.strategies import GLOBAL, STRATEGIES
from ..verdicts.difference import BETTER, WORSE, between
from .measured import ending
from .section import Section
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


def here_of(cell: Cell | None, name: str, metric: str = "time") -> float | None:
    found = cell.ratio(metric, PLAYS[name], GLOBAL) if cell else None
    return found.median if found else None


def decided(cell: Cell | None, of: str, to: str, section: Section, metric: str = "time") -> float | None:
    """The ratio, where it is no accident that it is more or less than one."""
    found = between(cell, metric, of, to, section.noise.get(metric), 0.0) if cell else ""
    return cell.ratio(metric, of, to).median if found in (BETTER, WORSE) else None


def same_side(first: float | None, second: float | None) -> bool | None:
    return None if first is None or second is None else (first < 1) == (second < 1)


def verdict_of(same: bool | None) -> Entry:
    """What comes out otherwise than in a document is no fault of anybody's: never red."""
    return Entry("undecided", mark="unknown") if same is None else Entry("yes", mark="good") if same else Entry("no", mark="other")


def percent_table(
    section: Section, table_id: str, keys: dict[str, str], title: str, label_of, nearest: str
) -> None:
    """Percent of the global allocator's time, row by row; a row of the document that was not run is matched by its shape."""
    source = published.tables()[table_id]
    names = ("AS2", "AS3", "AS5", "AS7", "AS9", "AS11", "AS13")
    table = Table(
        texts("what", "whose") + numbers(*(STRATEGIES[name].title for name in names)),
        caption=title,
        notes=[PART + " " + nearest],
    )
    agree = total = 0
    for cell in section.cells:
        here = {name: here_of(cell, name) for name in names}
        if not any(here.values()):
            continue
        where = {column: cell.parameters.get(parameter) for column, parameter in keys.items()}
        records = source.records(where)
        for record in records[:1]:
            there = {name: record[f"{name} percent"] for name in names}
            row = [Entry(label_of(cell)), Entry("published")]
            for name in names:
                row.append(Entry("failed", "bad") if there[name] is None else quotient(there[name] / 100))
                same = same_side(float("inf") if there[name] is None else there[name] / 100, decided(cell, PLAYS[name], GLOBAL, section))
                if same is not None and not (there[name] is not None and 97 <= there[name] <= 103):
                    agree += same
                    total += 1
            table.rows.append(row)
        ours = [ending(cell, PLAYS[name]) if here[name] is None else quotient(here[name]) for name in names]
        table.rows.append([Entry(label_of(cell)), Entry("here"), *ours])
    if table.rows:
        section.beside.append(table)
    if total:
        section.agreement.append(
            f"Whether a strategy takes more or less time than the global allocator comes out as in the document in {agree} of {total} figures "
            "(left out: those where it found no difference, within 3%, and those that are one round or within the noise here)."
        )
