# SPDX-License-Identifier: MIT
"""Tables of the experiments whose contenders are implementations under P0089R0's strategies: like beside like, as standing compares them."""

from __future__ import annotations

from dataclasses import replace

from ..results.catalogue import Contest, Experiment
from ..results.figures import PAIRED, Cell
from ..results.strategies import KINDS, STRATEGIES, implementation, plain, strategy
from .measured import contest_table
from .table import Table


def tables(cells: list[Cell], contest: Contest, experiment: Experiment) -> list[Table]:
    """One for each kind of resource; one of all where the question is which allocator to take."""
    found = []
    for kind in KINDS[1:] if experiment.alike else ("",):
        rows = [row for cell in cells for row in _ways(cell, kind)]
        titled = replace(contest, title=f"{contest.title}: {kind}") if kind else contest
        divided = replace(experiment, yardstick=implementation(experiment.yardstick))
        found.append(contest_table(rows, titled, divided))
    return found


def _ways(cell: Cell, kind: str) -> list[Cell]:
    """A cell for each way in which the kind was used, or any: contenders are implementations there, and the global allocator is one of each."""
    everywhere: dict[str, list] = {}
    found: dict[str, dict[str, list]] = {}
    for name, runs in cell.runs.items():
        used, again = STRATEGIES.get(strategy(name)), PAIRED if name.endswith(PAIRED) else ""
        if used is None or used.kind == "global":
            everywhere[plain(name) + again] = runs
        elif kind in ("", used.kind):
            found.setdefault(used.title.removeprefix(f"{used.kind}, "), {})[implementation(name) + again] = runs
    if len(everywhere) == len(cell.runs):  # it ran alone
        return [Cell(cell.experiment, cell.parameters, everywhere)]
    return [Cell(cell.experiment, {**cell.parameters, "strategy": way}, {**everywhere, **own}) for way, own in found.items()]
