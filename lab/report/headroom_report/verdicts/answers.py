"""The three answers that the report begins with: what Headroom's defaults cost against the yardstick and the best of the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Iterable

from ..results import strategies
from ..results.catalogue import Answer, Experiment
from ..results.figures import PAIRED, Cell, Figure
from .claims import matches, unsure
from .standing import Place, Standing, default, peer

PANELS = (
    ("growing", "Growing a vector"),
    ("many", "Many small allocations"),
    ("memory", "Memory"),
)


@dataclass(frozen=True)
class Line:
    """One comparison. Ratios are to the yardstick's figure."""

    answer: Answer
    parameters: dict[str, object]  # of the cell; what several cells have in common, for a mean of them
    cells: int
    ours: str
    yardstick: str
    ratio: Figure
    other: str = ""  # the best of the others, the yardstick apart
    other_ratio: float | None = None
    quotient: float | None = None  # where the answer is one: ours, the yardstick's, the best other's
    yardstick_quotient: float | None = None
    undecided: str = ""  # whether it is less or more than the yardstick's could be accident


@dataclass
class Panel:
    id: str
    title: str
    lines: list[Line] = field(default_factory=list)
    lost: list[Place] = field(default_factory=list)  # decided, worst first, in the experiments that the lines are from
    undecided: int = 0
    places: int = 0


def _chosen(answer: Answer, cells: list[Cell]) -> list[list[Cell]]:
    """The cells of each line."""
    own = [
        cell
        for cell in cells
        if matches(cell.parameters, answer.where) and any(cell.figure(name, answer.metric) for name in cell.contenders)
    ]
    if not own:
        return []
    if answer.sizes == ("all",):
        return [own]
    own.sort(key=lambda cell: cell.parameters.get(answer.size, 0))
    ends = {"small": own[0], "large": own[-1]}
    return [[ends[size]] for size in answer.sizes if size == "large" or own[0] is not own[-1]]


def _best(cell: Cell, names: Iterable[str], metric: str) -> tuple[str, Figure] | None:
    found = [(name, figure) for name in names if (figure := cell.figure(name, metric)) is not None]
    return min(found, key=lambda pair: pair[1].median) if found else None


def _quotient(answer: Answer, cell: Cell, name: str) -> float | None:
    whole, less, over = (cell.figure(name, metric) if metric else None for metric in (answer.metric, answer.less, answer.over))
    if whole is None or over is None or not over.median:
        return None
    return (whole.median - (less.median if less else 0)) / over.median


def _line(answer: Answer, experiment: Experiment, cells: list[Cell]) -> Line | None:
    ratios, others, winners, rivals = [], [], [], []
    for cell in cells:
        names = [name for name in cell.contenders if not name.endswith(PAIRED) and name not in experiment.no_choice]
        if answer.strategy:
            names = [name for name in names if strategies.strategy(name) == answer.strategy]
        ours = _best(cell, [name for name in names if default(name)], answer.metric)
        if ours is None or cell.uncountable(answer.metric, ours[0], experiment.yardstick):
            continue
        ratio = cell.ratio(answer.metric, ours[0], experiment.yardstick)
        if ratio is None:
            continue
        ratios.append(ratio)
        winners.append(ours[0])
        rival = _best(cell, [name for name in names if peer(name) and name != experiment.yardstick], answer.metric)
        below = cell.figure(experiment.yardstick, answer.metric)
        if rival and below and below.median:
            others.append(rival[1].median / below.median)
            rivals.append(rival[0])
    if not ratios:
        return None
    mean = math.exp(sum(math.log(ratio.median) for ratio in ratios) / len(ratios)) if all(r.median > 0 for r in ratios) else 0.0
    ratio = ratios[0]
    if len(ratios) > 1:
        ratio = replace(
            ratio,
            median=mean,
            low=min(one.median for one in ratios),
            high=max(one.median for one in ratios),
            rounds=min(one.rounds for one in ratios),
            scatter=max(one.scatter for one in ratios) / math.sqrt(len(ratios)),
        )
    common = dict(cells[0].parameters)
    for cell in cells[1:]:
        common = {name: value for name, value in common.items() if cell.parameters.get(name) == value}
    one = cells[0] if len(cells) == 1 else None
    return Line(
        answer,
        common,
        len(ratios),
        max(set(winners), key=winners.count),
        experiment.yardstick,
        ratio,
        max(set(rivals), key=rivals.count) if rivals else "",
        math.exp(sum(map(math.log, others)) / len(others)) if others and min(others) > 0 else None,
        _quotient(answer, one, winners[0]) if one and answer.over else None,
        _quotient(answer, one, experiment.yardstick) if one and answer.over else None,
        unsure(ratio, "< 1", 0.0),
    )


def panels(cells: list[Cell], experiments: Iterable[Experiment], standing: Standing) -> list[Panel]:
    experiments = list(experiments)
    found = []
    for name, title in PANELS:
        panel = Panel(name, title)
        told = []
        pairs = [(answer, one) for one in experiments for answer in one.answers if answer.panel == name]
        for answer, experiment in sorted(pairs, key=lambda pair: pair[0].place):
            for chosen in _chosen(answer, experiment.of(cells)):
                line = _line(answer, experiment, chosen)
                if line:
                    panel.lines.append(line)
                    told.append(experiment.id)
        own = [place for place in standing.places if place.experiment in told]
        panel.places = len(own)
        panel.lost = [place for place in standing.losses if place.experiment in told and place.lost]
        panel.undecided = sum(bool(place.undecided) for place in own)
        found.append(panel)
    return found
