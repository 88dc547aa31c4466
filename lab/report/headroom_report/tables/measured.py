# SPDX-License-Identifier: MIT
"""The tables of one experiment: what was measured here, and what a document printed."""

from __future__ import annotations

from ..pictures.style import arrange
from ..results import published, words
from ..results.catalogue import Contest, Experiment
from ..results.figures import PAIRED, Cell, Noise
from ..results.strategies import implementation, is_floor
from ..verdicts.difference import LEVEL, UNDECIDED, between
from .table import NOTHING, Column, Entry, Table


def contest_table(cells: list[Cell], contest: Contest, experiment: Experiment) -> Table:
    """A row for each configuration, a column for each contender: its median, and in brackets the ratio to the yardstick's."""
    noise, by = Noise(cells, contest.metric), experiment.yardstick
    cells = [cell for cell in cells if any(contest.metric in run.metrics for name in cell.contenders for run in cell.ok(name))]
    names = arrange({name for cell in cells for name in cell.contenders if not (experiment.by_strategy and name.endswith(PAIRED))})
    shown = {name: implementation(name) + (PAIRED if name.endswith(PAIRED) else "") for name in names}
    table = Table([Column("what")] + [Column(shown[name], True, shown[name]) for name in names], caption=contest.title)
    for cell in cells:
        figures = {name: cell.figure(name, contest.metric) for name in names}
        # Who may be the least: one that a reader could take, and not the same one run twice.
        own = [name for name in names if name not in experiment.no_choice and not name.endswith(PAIRED) and not is_floor(name)]
        known = [figures[name].median for name in own if figures[name]]
        yardstick = figures.get(by)
        row = [Entry(words.configuration(cell.parameters))]
        for name in names:
            figure = figures[name]
            if figure is None:
                row.append(ending(cell, name))
                continue
            text, mark = words.quantity(figure.median, figure.unit), ""
            if yardstick and name != by and yardstick.median:
                text += f" ({words.ratio(figure.median / yardstick.median)})"
                if between(cell, contest.metric, name, by, noise) in (LEVEL, *UNDECIDED):
                    mark = "quiet"
            if experiment.compared and name in own and figure.median == min(known) < max(known):
                text, mark = text + " *", mark or "best"
            row.append(Entry(text, mark, f"{words.figure(figure)}, {figure.rounds} rounds"))
        table.rows.append(row)
    if not experiment.compared:
        return table  # these are different things, not different ways to do one
    apart = f" (two runs of the same contender typically lie {words.share(noise.typical)} apart)" if noise else ""
    table.notes.append(
        f"In brackets: divided by {implementation(by)}'s. * marks the least of the row. Grey: level with it, or not told apart: fewer "
        f"than three rounds, or within the noise{apart}."
    )
    return table


def ending(cell: Cell, name: str) -> Entry:
    outcome = cell.outcome(name)
    if outcome in (None, "ok"):
        return NOTHING
    return Entry(outcome, "bad" if outcome not in ("absent", "not_run") else "unknown", cell.detail(name))


def published_table(table: published.Table) -> Table:
    """A document's table as printed."""
    source = table.source
    result = Table(
        [
            Column(name.replace("_", " "), number=any(isinstance(row[i], (int, float)) for row in table.rows))
            for i, name in enumerate(table.columns)
        ],
        caption=f"As published: {source['document']}, {source['place']}",
        notes=[f"{name}: {text}." for name, text in table.machines.items()] + table.notes,
    )
    for row in table.rows:
        result.rows.append([_printed(name, value) for name, value in zip(table.columns, row)])
    return result


def _printed(column: str, value: object) -> Entry:
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return Entry(f"{value:.6f}".rstrip("0").rstrip("."))
    if isinstance(value, int):
        return Entry(words.power(value) if column == "elements" else f"{value:,}")
    return Entry(str(value))
