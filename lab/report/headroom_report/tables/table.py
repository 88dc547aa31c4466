"""A table that both forms of the report print: the page with sorting, the terminal with spaces."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    text: str
    sort: float | str | None = None  # what a column sorts by, when not by the text
    mark: str = ""  # "good", "bad", "quiet", "unknown", "best": a colour on the page; the text says the same in words
    hover: str = ""
    contender: str = ""  # rows and columns of a contender can be filtered away
    small: str = ""  # a second line in small print; the terminal leaves it out


@dataclass(frozen=True)
class Column:
    title: str
    number: bool = False  # right-aligned, sorted by value
    contender: str = ""
    hover: str = ""


@dataclass
class Table:
    columns: list[Column]
    rows: list[list[Entry]] = field(default_factory=list)
    caption: str = ""
    notes: list[str] = field(default_factory=list)


def entry(value: object, **more) -> Entry:
    return value if isinstance(value, Entry) else Entry(str(value), **more)


def plain(table: Table, width: int = 0) -> str:
    """The table as text: columns two spaces apart, numbers to the right. The last column is cut to fit `width`, if any."""
    grid = [[column.title for column in table.columns]] + [[cell.text for cell in row] for row in table.rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(table.columns))]
    lines = []
    for number, row in enumerate(grid):
        cells = [
            text.rjust(widths[i]) if table.columns[i].number else text.ljust(widths[i]) for i, text in enumerate(row)
        ]
        line = "  ".join(cells).rstrip()
        if width and len(line) > width:
            line = line[: width - 1] + "…"
        lines.append(line)
        if number == 0:
            lines.append("  ".join("─" * length for length in widths)[: width or None])
    return "\n".join(lines)
