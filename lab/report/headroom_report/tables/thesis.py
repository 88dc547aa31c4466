"""What “A fast vector with mremap” says in numbers, beside the figures here."""

from __future__ import annotations

from ..results import published, words
from ..results.strategies import is_peer
from ..verdicts.difference import UNDECIDED, between
from .section import Section
from .table import Entry, Table, numbers, quotient, texts


def beside(section: Section, table_id: str, parts: dict[str, tuple[str, str, str | None]]) -> None:
    """What the thesis says in numbers, as speeds, beside the speeds here. `parts`: for what the thesis speaks of, the metric, the
    parameter of which the largest is taken, and the element."""
    source = published.tables()[table_id]
    ours = "headroom::vector"
    table = Table(
        texts("what") + numbers("published: rvector's speed ÷ the other's") + texts("the other, published")
        + numbers("here: headroom::vector's speed ÷ the other's") + texts("the other, here", "where"),
        caption="Published and here",
        notes=[
            f"Published on: {'; '.join(source.machines.values())}. headroom::vector plays rvector's part; the other is the fastest of the rest, "
            "or the one named. The thesis shows plots; only what its text says in numbers stands here."
        ],
    )
    for record in source.records():
        if record["what"] not in parts:
            continue
        metric, where, element = parts[record["what"]]
        cells = [
            cell
            for cell in section.cells
            if (element is None or cell.parameters.get("element") == element) and cell.figure(ours, metric) is not None
        ]
        row = [Entry(record["what"]), quotient(record["speed of rvector / other"]), Entry(record["other"])]
        cell = max(cells, key=lambda cell: cell.parameters.get(where, 0), default=None)
        named = record["other"] if record["other"] in ("std::vector", "folly::fbvector") else None
        found = cell.least(metric, [name for name in cell.contenders if (name == named if named else is_peer(name))]) if cell else None
        if found is None:
            table.rows.append(row + [Entry("not run", "unknown"), Entry(named or "—"), Entry("—")])
            continue
        other, speed = found[0], found[1].median / cell.figure(ours, metric).median
        label = words.configuration(cell.parameters)
        table.rows.append(row + [quotient(speed), Entry(other), Entry(label)])
        there = record["speed of rvector / other"]
        noise = section.noise.get(metric)
        near, farther = (between(cell, metric, other, ours, noise, 0.0, times) for times in (1, there))
        section.agreement.append(
            f"{record['what']}: {words.ratio(there)} times the speed of {record['other']} in the thesis, {words.ratio(speed)} times that of "
            f"{other} here ({label}): "
            + (
                f"which of the two is ahead is undecided ({near})."
                if near in UNDECIDED
                else "not ahead."
                if speed <= 1.0
                else "about as far ahead."
                if farther in UNDECIDED
                else "farther ahead."
                if speed > there
                else "ahead, and not as far."
            )
        )
    if table.rows:
        section.beside.append(table)
