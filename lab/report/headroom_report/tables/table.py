# SPDX-License-Identifier: MIT
"""A table that both forms of the report print: the page with a grid, the terminal with spaces."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from ..results import words


@dataclass(frozen=True)
class Entry:
    text: str
    mark: str = ""  # "good", "bad", "quiet", "unknown", "best": a colour on the page; the text says the same in words
    hover: str = ""
    contender: str = ""  # rows and columns of a contender can be filtered away
    small: str = ""  # a second line in small print; in brackets on the terminal


@dataclass(frozen=True)
class Column:
    title: str
    number: bool = False  # right-aligned
    contender: str = ""


def texts(*titles: str) -> list[Column]:
    return [Column(title) for title in titles]


def numbers(*titles: str) -> list[Column]:
    return [Column(title, True) for title in titles]


NOTHING = Entry("—")


def quantity(figure) -> Entry:
    """A figure's median with its unit, or that there is none."""
    return Entry(words.quantity(figure.median, figure.unit), hover=words.figure(figure)) if figure else NOTHING


def quotient(value: float | None) -> Entry:
    return NOTHING if value is None else Entry(words.ratio(value))


@dataclass
class Table:
    columns: list[Column]
    rows: list[list[Entry]] = field(default_factory=list)
    caption: str = ""
    notes: list[str] = field(default_factory=list)


def _told(cell: Entry) -> str:
    return f"{cell.text} ({cell.small})" if cell.small else cell.text


def _row_by_row(table: Table, width: int) -> str:
    """Each row as a sentence of its own: what it is about, and below it every column that has something to say."""
    lines = []
    for row in table.rows:
        rest = zip(table.columns[1:], row[1:])
        told = "; ".join(f"{column.title}: {_told(cell)}" for column, cell in rest if cell.text not in ("", "—"))
        lines.append(textwrap.fill(_told(row[0]), width))
        lines.append(textwrap.fill(told, width, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False))
    return "\n".join(line for line in lines if line)


def plain(table: Table, width: int = 0) -> str:
    """The table as text: columns two spaces apart, numbers to the right; row by row where that is wider than `width`, if any."""
    grid = [[column.title for column in table.columns]] + [[_told(cell) for cell in row] for row in table.rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(table.columns))]
    if width and sum(widths) + 2 * len(widths) - 2 > width:
        return _row_by_row(table, width)
    lines = []
    for number, row in enumerate(grid):
        cells = [
            text.rjust(widths[i]) if table.columns[i].number else text.ljust(widths[i]) for i, text in enumerate(row)
        ]
        lines.append("  ".join(cells).rstrip())
        if number == 0:
            lines.append("  ".join("─" * length for length in widths))
    return "\n".join(lines)
