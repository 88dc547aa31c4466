# SPDX-License-Identifier: MIT
"""Headroom's standing: in how many cells its default is the best, in how many close to it, and every cell where it is not.

Only what a user gets without choosing counts (contenders of Headroom without "/"): a library that could be tuned to win
everywhere has not won.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Iterable

from ..results import strategies
from ..results.catalogue import Contest, Experiment
from ..results.figures import Cell, Figure, Noise
from .difference import BETTER, LEVEL, SLACK, UNDECIDED, WORSE, between, over

CLOSE = 1.05


@dataclass(frozen=True)
class Place:
    """Headroom's default in one cell by one measure, against the best of the others."""

    experiment: str
    measure: str  # in words
    metric: str
    parameters: dict[str, object] = field(hash=False)
    ours: str = ""
    figure: Figure | None = None
    other: str = ""
    other_figure: Figure | None = None
    ratio: float = math.inf  # ours / best other's; infinite if ours did not end well
    outcome: str = WORSE  # better, level, worse, or why that is undecided
    why: str = ""

    @property
    def undecided(self) -> str:
        return self.outcome if self.outcome in UNDECIDED else ""

    @property
    def best(self) -> bool:
        return self.outcome in (BETTER, LEVEL)

    @property
    def close(self) -> bool:
        return self.lost and self.ratio <= CLOSE

    @property
    def lost(self) -> bool:
        return self.outcome == WORSE


@dataclass
class Standing:
    places: list[Place] = field(default_factory=list)

    @property
    def losses(self) -> list[Place]:
        """Every cell where Headroom is not the best, worst first; what the figures do not decide comes after what they do."""
        found = [place for place in self.places if place.ratio > 1 + SLACK]
        return sorted(found, key=lambda place: (bool(place.undecided), -place.ratio))


def counted(places: list[Place]) -> tuple[int, int, int, int]:
    """In how many it is the best or level with it, close behind, farther behind, and how many are undecided."""
    best, close, lost = (sum(getattr(place, name) for place in places) for name in ("best", "close", "lost"))
    return best, close, lost - close, len(places) - best - lost


def _groups(cell: Cell, alike: bool) -> list[tuple[dict[str, object], list[str]]]:
    """Who is compared with whom: where the question is P0089R0's strategies each with its like, elsewhere all with all."""
    there = {strategies.strategy(name) for name in cell.contenders}
    found = [name for name, one in strategies.STRATEGIES.items() if name in there and one.kind != "global"]
    if not found or not alike:
        return [(cell.parameters, cell.contenders)]
    return [
        ({**cell.parameters, "strategy": name}, [one for one in cell.contenders if strategies.strategy(one) == name])
        for name in found
    ]


def of(cells: list[Cell], experiments: Iterable[Experiment]) -> Standing:
    result = Standing()
    for experiment in experiments:
        own = experiment.of(cells)
        for contest in experiment.contests:
            noise = Noise(own, contest.metric)
            for cell in own:
                for parameters, contenders in _groups(cell, experiment.alike):
                    contenders = [name for name in contenders if name not in experiment.no_choice]
                    place = _place(experiment.id, contest, noise, cell, parameters, contenders)
                    if place:
                        result.places.append(place)
    return result


def _place(experiment: str, contest: Contest, noise: Noise, cell: Cell, parameters: dict, contenders: list[str]) -> Place | None:
    mine = [name for name in contenders if strategies.is_default(name)]
    theirs = cell.least(contest.metric, [name for name in contenders if strategies.is_peer(name)])
    tried = [name for name in mine if cell.ok(name) or cell.failed(name)]
    if not tried:
        return None
    measure, metric = contest.title, contest.metric
    whole = [name for name in tried if not cell.failed(name)]
    found = cell.least(metric, whole)
    if theirs is None:
        # Nobody else finished: the best, if it did.
        failed = [
            name for name in contenders if strategies.is_peer(name) and cell.failed(name) in ("bad_alloc", "killed", "timeout")
        ]
        if not failed or not found:
            return None
        why = f"{failed[0]}: {cell.failed(failed[0])}"
        return Place(experiment, measure, metric, parameters, *found, failed[0], None, 0.0, outcome=BETTER, why=why)
    if found is None:
        if whole:
            return None  # it ended well, and this measure is not taken here
        why = cell.failed(tried[0])
        return Place(experiment, measure, metric, parameters, tried[0], None, *theirs, why=why)
    if cell.uncountable(metric, found[0], theirs[0]):
        return None  # nobody can be told to have won or lost here
    ratio = over(found[1].median, theirs[1].median)
    outcome = between(cell, metric, found[0], theirs[0], noise)
    return Place(experiment, measure, metric, parameters, *found, *theirs, ratio, outcome)
