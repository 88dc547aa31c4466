# SPDX-License-Identifier: MIT
"""Where Headroom loses, in at most twelve lines: what the page and README say in the same words.

Every decided cell where Headroom's default takes more than 1.05 of the best of the others is in one group with the others of its
experiment and measure. A line has the group's work in words (results/catalogue.py), against whom, by how much, and what to use instead.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass
from typing import Iterable, Mapping

from ..results import words
from ..results.catalogue import Contest, Experiment, Limit
from ..results.figures import Cell
from ..results.strategies import implementation
from .standing import CLOSE, Place, Standing

MOST = 12  # lines


@dataclass(frozen=True)
class Loss:
    work: str  # what is done, and why Headroom is behind
    against: str  # the peers, the one that wins most cells first
    by: str  # "1.2 times the time, at most 2.4, in 12 of 40 cells"
    instead: str  # empty: nothing better to advise
    machine: str

    @property
    def cells(self) -> tuple[str, ...]:
        return self.work, self.against, self.by, self.instead or "—", self.machine


TITLES = ("at what", "against whom", "by how much", "what to use there", "on")


def of(standings: dict[str, Standing], experiments: Iterable[Experiment], cells: Mapping[str, list[Cell]] = {}) -> list[Loss]:
    """The lines of these machines, by their names; those that lose most cells by most come first. Limits are of the machine's cells."""
    contests = {(experiment.id, contest.metric): (experiment, contest) for experiment in experiments for contest in experiment.contests}
    weighed: list[tuple[float, Loss]] = []
    for machine, standing in standings.items():
        decided = Counter((place.experiment, place.metric) for place in standing.places if not place.undecided)
        groups: dict[tuple[str, str], list[Place]] = {}
        for place in standing.losses:
            if place.lost and place.ratio > CLOSE:
                groups.setdefault((place.experiment, place.metric), []).append(place)
        for key, places in groups.items():
            weight = sum(min(math.log(place.ratio), 10.0) for place in places)  # infinite where Headroom did not end well
            weighed.append((weight, _loss(machine, *contests[key], places, decided[key], cells.get(machine, []))))
    return [loss for _, loss in sorted(weighed, key=lambda pair: -pair[0])[:MOST]]


def _limit(limit: Limit | None, cells: list[Cell]) -> str:
    """"; limit: a page's first touch takes 1.3 µs", or nothing where that was not measured."""
    for cell in cells:
        if limit and cell.experiment == limit.experiment and all(cell.parameters.get(name) == value for name, value in limit.where.items()):
            figure = cell.figure(limit.contender, limit.metric)
            if figure:
                return f"; limit: {limit.what} takes {words.seconds(figure.median)}"
    return ""


def _loss(machine: str, experiment: Experiment, contest: Contest, places: list[Place], decided: int, cells: list[Cell]) -> Loss:
    peers = Counter(implementation(place.other) for place in places)
    named = [name.replace("container::pmr::", "") for name, _ in peers.most_common(2)]
    against = ", ".join(named) + (" and others" if len(peers) > len(named) else "")
    ratios = sorted(place.ratio for place in places)
    middle, most = statistics.median(ratios), ratios[-1]
    times = f"{words.ratio(middle)} times" if len(ratios) == 1 else f"{words.ratio(middle)} times, at most {words.ratio(most)}"
    return Loss(
        (contest.lost or f"{experiment.title}: {contest.title}") + _limit(contest.limit, cells),
        against,
        f"{times}, in {len(places)} of {decided} cells",
        contest.instead,
        machine,
    )
