# SPDX-License-Identifier: MIT
"""The three answers that the report begins with: what Headroom's defaults cost against the yardstick and the best of the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable

from ..results import strategies
from ..results.catalogue import Answer, Experiment
from ..results.figures import PAIRED, Cell, Figure, Noise, geometric_mean
from ..results.strategies import is_default, is_peer
from .claims import matches
from .difference import UNDECIDED, difference, limit
from .standing import Place, Standing

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
    other: str = ""  # the best of the others, the yardstick apart; of several cells the one that is it most often
    other_ratio: float | None = None
    others_differ: bool = False  # it is not the same one in all cells
    quotients: tuple[float, float | None, float] | None = None  # where the answer is one: ours, the best other's, the yardstick's
    noise: float = 0.0  # how far the ratio may be off by accident, as a part of it
    undecided: str = ""  # whether it is less or more than the yardstick's could be accident


@dataclass
class Panel:
    id: str
    title: str
    lines: list[Line] = field(default_factory=list)
    lost: list[Place] = field(default_factory=list)  # decided, worst first, of the panel's kind
    undecided: int = 0
    places: int = 0


def _names(answer: Answer, experiment: Experiment, cell: Cell) -> list[str]:
    names = [name for name in cell.contenders if not name.endswith(PAIRED) and name not in experiment.no_choice]
    return [name for name in names if not answer.strategy or strategies.strategy(name) == answer.strategy]


def _ratio(answer: Answer, experiment: Experiment, cell: Cell, name: str) -> Figure | None:
    if cell.failed(name) or cell.uncountable(answer.metric, name, experiment.yardstick):
        return None
    return cell.ratio(answer.metric, name, experiment.yardstick)


def _chosen(answer: Answer, experiment: Experiment, cells: list[Cell]) -> list[list[Cell]]:
    """The cells of each line: of those in which one of Headroom's defaults can be compared with the yardstick."""
    own = [
        cell
        for cell in experiment.of(cells)
        if matches(cell.parameters, answer.where)
        and any(_ratio(answer, experiment, cell, name) for name in _names(answer, experiment, cell) if is_default(name))
    ]
    if not own:
        return []
    if answer.sizes == ("all",):
        return [own]
    own.sort(key=lambda cell: cell.parameters.get(answer.size, 0))
    ends = {"small": own[0], "large": own[-1]}
    return [[ends[size]] for size in answer.sizes if size == "large" or answer.sizes == ("small",) or own[0] is not own[-1]]


def _ours(answer: Answer, experiment: Experiment, cells: list[Cell]) -> tuple[str, list[tuple[Cell, Figure]]] | None:
    """The one of Headroom's defaults that is in the most of the cells, and of those the best over all: a reader takes one type."""
    names = dict.fromkeys(name for cell in cells for name in _names(answer, experiment, cell) if is_default(name))
    found = {
        name: [(cell, ratio) for cell in cells if (ratio := _ratio(answer, experiment, cell, name)) is not None] for name in names
    }
    found = {name: pairs for name, pairs in found.items() if pairs}
    return min(found.items(), key=lambda one: (-len(one[1]), geometric_mean([ratio for _, ratio in one[1]]).median), default=None)


def _quotient(answer: Answer, cell: Cell, name: str) -> float | None:
    whole, less, over = (cell.figure(name, metric) if metric else None for metric in (answer.metric, answer.less, answer.over))
    if whole is None or over is None or not over.median:
        return None
    return (whole.median - (less.median if less else 0)) / over.median


def _line(answer: Answer, experiment: Experiment, cells: list[Cell], noise: Noise) -> Line | None:
    chosen = _ours(answer, experiment, cells)
    if chosen is None:
        return None
    ours, pairs = chosen
    others, rivals = [], []
    for cell, _ in pairs:
        names = [name for name in _names(answer, experiment, cell) if is_peer(name) and name != experiment.yardstick]
        rival, below = cell.least(answer.metric, names), cell.figure(experiment.yardstick, answer.metric)
        if rival and below and below.median:
            others.append(cell.ratio(answer.metric, rival[0], experiment.yardstick))
            rivals.append(rival[0])
    if len(others) < len(pairs):  # a mean over other cells than ours is nothing to stand beside it
        others, rivals = [], []
    cells = [cell for cell, _ in pairs]
    ratios = [ratio for _, ratio in pairs]
    one = cells[0] if len(cells) == 1 else None
    ratio = ratios[0] if one else geometric_mean(ratios)
    apart = noise.between(one, ours, experiment.yardstick) if one else noise.typical
    sides = [one.figure(name, answer.metric) for name in (ours, experiment.yardstick)] if one else [ratio, limit(1)]
    found_out = difference(*sides, apart)
    quotients = tuple(_quotient(answer, one, name) for name in (ours, rivals[0] if rivals else "", experiment.yardstick)) if one and answer.over else (None,) * 3
    common = {name: value for name, value in cells[0].parameters.items() if all(cell.parameters.get(name) == value for cell in cells)}
    return Line(
        answer,
        common,
        len(ratios),
        ours,
        experiment.yardstick,
        ratio,
        max(rivals, key=rivals.count) if rivals else "",
        geometric_mean(others).median if others else None,
        len(set(rivals)) > 1,
        None if None in (quotients[0], quotients[2]) else quotients,
        0.0 if ratio.exact else max(apart, ratio.scatter),
        found_out if found_out in UNDECIDED else "",
    )


def _panel_of(place: Place, experiments: dict[str, Experiment]) -> str:
    """Every cell that can be lost stands in one of the panels: the worst loss of all is the worst of one of them."""
    figure = place.figure or place.other_figure
    if figure and figure.unit == "B":
        return "memory"
    return "growing" if "vector" in experiments[place.experiment].yardstick else "many"


def panels(cells: list[Cell], experiments: Iterable[Experiment], standing: Standing) -> list[Panel]:
    experiments = list(experiments)
    by_id = {one.id: one for one in experiments}
    found = []
    for name, title in PANELS:
        panel = Panel(name, title)
        pairs = [(answer, one) for one in experiments for answer in one.answers if answer.panel == name]
        for answer, experiment in sorted(pairs, key=lambda pair: pair[0].place):
            noise = Noise(experiment.of(cells), answer.metric)
            for chosen in _chosen(answer, experiment, cells):
                line = _line(answer, experiment, chosen, noise)
                if line:
                    panel.lines.append(line)
        own = [place for place in standing.places if _panel_of(place, by_id) == name]
        panel.places = len(own)
        panel.lost = [place for place in standing.losses if place.lost and _panel_of(place, by_id) == name]
        panel.undecided = sum(bool(place.undecided) for place in own)
        found.append(panel)
    return found
