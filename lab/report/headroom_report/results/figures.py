# SPDX-License-Identifier: MIT
"""From runs to figures: one figure is the median over rounds, with the lowest and highest round beside it."""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Iterable

from .reading import Metric, Run

PAIRED = "#2"  # the same contender run a second time, to see how far equal things differ here


ROUNDS = 3  # fewer tell nothing of how far figures differ by accident
RESOLUTION = 1e-9  # seconds: what one call took cannot be told by the processor's counter below this


@dataclass(frozen=True)
class Figure:
    median: float
    low: float
    high: float
    rounds: int
    unit: str = ""
    timed: bool = False  # made of times, so that accidents move it
    exact: bool = False  # a count, which is the same whenever it is taken; neither: bytes, which may differ from round to round
    scatter: float = 0.0  # how far rounds typically lie from the median, as a part of it; one stalled round does not move it
    values: tuple[float, ...] = ()  # of each round, where it is a figure of rounds

    def times(self, factor: float, unit: str = "") -> Figure:
        values = tuple(value * factor for value in self.values)
        return replace(self, median=self.median * factor, low=self.low * factor, high=self.high * factor, unit=unit, values=values)


def percentile(metric: Metric, fraction: float) -> float:
    """Of a histogram, by nearest rank: the smallest value that `fraction` of the samples do not exceed."""
    need = fraction * sum(metric.counts)
    seen = 0.0
    last = 0.0
    for value, count in sorted(zip(metric.values, metric.counts)):
        if count:
            seen += count
            last = value
            if seen >= need:
                return value
    return last


def scalar(metric: Metric) -> float | None:
    """One number for one child process: the median of its repetitions, or of its samples."""
    if metric.counts:
        return percentile(metric, 0.5) if sum(metric.counts) else None
    return statistics.median(metric.values) if metric.values else None


def _scatter(values: list[float]) -> float:
    """The median distance from the median, half as much again, as a part of it (for accidents as they usually are distributed, the
    distance that two thirds stay within)."""
    middle = statistics.median(values)
    return 1.5 * statistics.median(abs(value - middle) for value in values) / abs(middle) if middle else 0.0


QUOTIENTS = frozenset({"degradation", "ageing", "worst"})  # of times: they have no unit, and are no counts


def is_timed(metric: str, unit: str) -> bool:
    return unit == "s" or metric in QUOTIENTS


def summarise(values: Iterable[float], unit: str = "", timed: bool = False, exact: bool = False) -> Figure | None:
    values = list(values)
    if not values:
        return None
    return Figure(
        statistics.median(values), min(values), max(values), len(values), unit, timed, exact, _scatter(values), tuple(values)
    )


def together(figures: list[Figure], median: float, **more) -> Figure:
    """A figure that is made of several: as sure as the least sure of them."""
    return Figure(
        median,
        more.pop("low", median),
        more.pop("high", median),
        min(figure.rounds for figure in figures),
        timed=any(figure.timed for figure in figures),
        exact=all(figure.exact for figure in figures),
        scatter=more.pop("scatter", max(figure.scatter for figure in figures)),
        **more,
    )


def geometric_mean(figures: list[Figure]) -> Figure:
    """Each differs by accident for itself, so that together they differ by less."""
    medians = [figure.median for figure in figures]
    middle = math.exp(sum(map(math.log, medians)) / len(medians)) if min(medians) > 0 else 0.0
    scatter = max(figure.scatter for figure in figures) / math.sqrt(len(figures))
    return together(figures, middle, low=min(medians), high=max(medians), scatter=scatter)


_PERCENTILE = re.compile(r"_p(\d\d)(\d*)$")
_ONE_CALL = re.compile(r"^(append|call)_(min|max|p\d+)$")


def too_few_samples(metric: str, parameters: dict[str, object]) -> bool:
    """A percentile of so few samples that fewer than ten lie beyond it says nothing of those beyond."""
    found, elements = _PERCENTILE.search(metric), parameters.get("elements")
    if not found or not isinstance(elements, int):
        return False
    beyond = 1 - float(f"0.{found[1]}{found[2]}")
    return elements * beyond < 9.999


@dataclass
class Cell:
    """One configuration of one experiment on one machine, with every contender's rounds."""

    experiment: str
    parameters: dict[str, object]
    runs: dict[str, list[Run]]
    known: dict[tuple[str, str], Figure | float | None] = field(default_factory=dict, compare=False, repr=False)  # what was asked before

    @property
    def contenders(self) -> list[str]:
        return list(self.runs)

    def ok(self, contender: str) -> list[Run]:
        return [run for run in self.runs.get(contender, []) if run.outcome == "ok"]

    def outcome(self, contender: str) -> str | None:
        """How the contender ended: "ok" only if no round ended otherwise; None when it was not there at all."""
        runs = self.runs.get(contender)
        if not runs:
            return None
        bad = [run.outcome for run in runs if run.outcome != "ok"]
        return bad[0] if bad else "ok"

    def failed(self, contender: str) -> str:
        """How it ended in the first round that was begun and did not end well; empty where there was none."""
        outcomes = (run.outcome for run in self.runs.get(contender, []))
        return next((outcome for outcome in outcomes if outcome not in ("ok", "absent", "not_run")), "")

    def detail(self, contender: str) -> str:
        return next((run.detail for run in self.runs.get(contender, []) if run.detail), "")

    def values(self, contender: str, metric: str) -> list[float]:
        """One value for each good round, in order of rounds."""
        found = []
        for run in sorted(self.ok(contender), key=lambda run: run.round):
            if metric in run.metrics:
                value = scalar(run.metrics[metric])
                if value is not None:
                    # Counted as the difference of two runs of a program, whose start takes a few more or fewer each time.
                    found.append(round(value, 2) if metric == "instructions" else value)
        return found

    def unit(self, contender: str, metric: str) -> str:
        return next((run.metrics[metric].unit for run in self.ok(contender) if metric in run.metrics), "")

    def figure(self, contender: str, metric: str) -> Figure | None:
        key = (contender, metric)
        if key not in self.known:
            unit = self.unit(contender, metric)
            timed = is_timed(metric, unit)
            self.known[key] = summarise(self.values(contender, metric), unit, timed, not timed and unit != "B")
        return self.known[key]

    def least(self, metric: str, names: Iterable[str]) -> tuple[str, Figure] | None:
        """Of these contenders the one with the least median."""
        found = [(name, figure) for name in names if (figure := self.figure(name, metric)) is not None]
        return min(found, key=lambda pair: pair[1].median, default=None)

    def uncountable(self, metric: str, *contenders: str) -> str:
        """Why a comparison of these contenders by this metric says nothing; empty where it says something."""
        if too_few_samples(metric, self.parameters):
            return "too few samples for this percentile"
        if _ONE_CALL.match(metric):
            for contender in contenders:
                figure = self.figure(contender, metric)
                if figure is not None and figure.median < RESOLUTION:
                    return "below the clock's resolution"
        return ""

    def step(self, metric: str, *contenders: str) -> float:
        """What one step of the clock is of these contenders' figures for one call: they cannot be told apart by less."""
        if not _ONE_CALL.match(metric):
            return 0.0
        found = [figure.median for name in contenders if (figure := self.figure(name, metric)) is not None]
        return RESOLUTION / min(found) if found and min(found) > 0 else 0.0

    def scatter(self, metric: str) -> float:
        """How far rounds of a contender typically lie from their median here."""
        key = ("", metric)
        if key not in self.known:
            figures = [figure for name in self.runs if (figure := self.figure(name, metric)) is not None and figure.rounds > 1]
            self.known[key] = statistics.median(figure.scatter for figure in figures) if figures else 0.0
        return self.known[key]

    def histogram(self, contender: str, metric: str) -> Metric | None:
        """All rounds' samples together."""
        total: dict[float, float] = defaultdict(float)
        unit = ""
        for run in self.ok(contender):
            found = run.metrics.get(metric)
            if found and found.counts:
                unit = found.unit
                for value, count in zip(found.values, found.counts):
                    total[value] += count
        if not total:
            return None
        values = tuple(sorted(total))
        return Metric(unit, values, tuple(total[value] for value in values))

    def sequence(self, contender: str, metric: str) -> tuple[float, ...] | None:
        """All the values that the first good round recorded, for metrics that are lists and not repetitions."""
        return next((run.metrics[metric].values for run in self.ok(contender) if metric in run.metrics), None)

    def ratio(self, metric: str, of: str, to: str) -> Figure | None:
        """Median of `of` over median of `to`; the lowest and highest are those of the rounds paired in time."""
        first, second = self.figure(of, metric), self.figure(to, metric)
        if first is None or second is None or second.median == 0:
            return None
        of_rounds = [
            {run.round: scalar(run.metrics[metric]) for run in self.ok(contender) if metric in run.metrics} for contender in (of, to)
        ]
        pairs = [value / of_rounds[1][number] for number, value in of_rounds[0].items() if value is not None and of_rounds[1].get(number)]
        middle = first.median / second.median
        found = together([first, second], middle, low=min(pairs + [middle]), high=max(pairs + [middle]), values=tuple(pairs))
        return replace(found, rounds=len(pairs))


def cells(runs: Iterable[Run]) -> list[Cell]:
    """Grouped by experiment and parameters, in the order in which they first appear."""
    groups: dict[tuple, Cell] = {}
    for run in runs:
        key = (run.experiment, run.parameters)
        if key not in groups:
            groups[key] = Cell(run.experiment, dict(run.parameters), {})
        groups[key].runs.setdefault(run.contender, []).append(run)
    # A peer that is absent may be recorded once, without parameters: no cell of its own.
    return [cell for cell in groups.values() if cell.parameters or any(cell.ok(contender) for contender in cell.runs)]


class Noise:
    """How far two runs of the very same contender lay apart by one measure in one experiment (A/A runs).

    A difference in a cell is noise when it is no larger than what equal things showed in that very cell. A cell without such a
    pair is judged by what they typically show (the median over the experiment's cells). A pair that agrees by accident decides
    nothing by itself: whoever asks also looks at how far the rounds scatter.
    """

    def __init__(self, found: Iterable[Cell], metric: str):
        self.metric = metric
        self._of_cell: dict[int, float] = {}
        for cell in found:
            for contender in cell.contenders:
                if contender.endswith(PAIRED):
                    ratio = cell.ratio(metric, contender, contender[: -len(PAIRED)])
                    if ratio is not None and ratio.median > 0:
                        self._of_cell[id(cell)] = distance(ratio.median)

    def __bool__(self) -> bool:
        return bool(self._of_cell)

    @property
    def typical(self) -> float:
        return statistics.median(self._of_cell.values()) if self._of_cell else 0.0

    def at(self, cell: Cell) -> float:
        """As a part of the figure; 0 without A/A runs."""
        return self._of_cell.get(id(cell), self.typical)

    def between(self, cell: Cell, *contenders: str) -> float:
        """The same, and no less than rounds of this cell usually scatter (three of one contender may agree by accident) and than what
        a step of the clock is of these contenders' figures."""
        return max(self.at(cell), cell.scatter(self.metric), cell.step(self.metric, *contenders))


def distance(ratio: float) -> float:
    """How far a ratio lies from 1, the same for a ratio and its inverse: 0.25 for 1.25 and for 0.8."""
    return max(ratio, 1 / ratio) - 1 if ratio > 0 else float("inf")
