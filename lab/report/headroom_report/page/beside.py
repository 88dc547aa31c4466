"""Several machines side by side: the first screen's answers on each, and every claim and promise whose verdict is not the same on
all of them. A figure of one machine is never divided by one of another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..results import words
from ..tables.table import Column, Entry, Table
from ..verdicts.answers import Line
from ..verdicts.claims import PROMISES
from . import panels
from .model import Machine, Report, here, told


@dataclass
class Beside:
    """What the page and the terminal show of it; nothing for one machine alone."""

    tables: list[Table] = field(default_factory=list)
    words: str = ""


def names(machines: list[Machine]) -> list[str]:
    """What each is called in a column: its processor and cores, and as much more as it takes to tell them apart."""
    parts = [
        [
            f"{machine.description.get('cpu', 'unknown processor')}, {machine.description.get('cores', '?')} cores",
            str(machine.description.get("kernel", "")),
            machine.id,
        ]
        for machine in machines
    ]
    found = [own[0] for own in parts]
    for more in (1, 2):
        again = Counter(found)
        found = [f"{name}, {own[more]}" if again[name] > 1 and own[more] else name for name, own in zip(found, parts)]
    return found


def _told(line: Line | None) -> Entry:
    if line is None:
        return Entry("—", "unknown", "not measured there")
    noise = panels.noise(line)
    best = f"{panels.best_other(line)} {words.ratio(line.other_ratio)}" if line.other_ratio is not None else ""
    mark = "unknown" if line.undecided else "good" if line.ratio.median < 1 else "bad"
    return Entry(
        words.ratio(line.ratio.median) + (f" ({noise})" if noise else ""),
        mark,
        small=f"best of the others: {best}" if best else "",
    )


def _answers(machines: list[Machine], columns: list[Column]) -> Table:
    table = Table(
        [Column("Headroom's default ÷ the yardstick"), *columns],
        caption="The answers on each machine",
        notes=["The yardstick is std::vector, or the global allocator, on the same machine; less is better."],
    )
    rows: dict[tuple[str, str], list[Line | None]] = {}
    for number, machine in enumerate(machines):
        for panel in machine.panels:
            for line in panel.lines:
                key = (line.answer.title, panels.where(line))
                rows.setdefault(key, [None] * len(machines))[number] = line
    for (title, where), lines in rows.items():
        table.rows.append([Entry(f"{title} ({where})"), *map(_told, lines)])
    table.rows.append(
        [
            Entry("cells where another is better, of those decided"),
            *(
                Entry(f"{sum(place.lost for place in places)} of {sum(not place.undecided for place in places)}")
                for machine in machines
                for places in [machine.standing.places]
            ),
        ]
    )
    return table


def _verdicts(machines: list[Machine], columns: list[Column]) -> tuple[Table, int]:
    """Those that differ, promises first; and how many are the same."""
    table = Table([Column("sentence"), Column("whose"), *columns], caption="Sentences that do not hold on all machines alike")
    same = 0
    for verdicts in zip(*(machine.promises + machine.verdicts for machine in machines)):
        states = [told(verdict) for verdict in verdicts]
        if len(set(states)) == 1:
            same += 1
            continue
        claim = verdicts[0].claim
        whose = "Headroom's promise" if claim.document == PROMISES else claim.document
        entries = [Entry(state, mark=mark, small=here(verdict)) for (state, mark), verdict in zip(states, verdicts)]
        table.rows.append([Entry(claim.sentence, hover=claim.id), Entry(whose), *entries])
    return table, same


def beside(report: Report) -> Beside:
    if len(report.machines) < 2:
        return Beside()
    columns = [Column(name) for name in names(report.machines)]
    answers = _answers(report.machines, columns)
    verdicts, same = _verdicts(report.machines, columns)
    told = (
        f"{len(report.machines)} machines: sentences with the same verdict on all of them: {same}; with another: {len(verdicts.rows)}. "
        "What holds on one machine only is true of that machine."
    )
    return Beside([answers, verdicts] if verdicts.rows else [answers], told)
