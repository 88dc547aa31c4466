# SPDX-License-Identifier: MIT
"""Whether two figures differ: the one rule for claims, promises, standing, comparisons, tables and the chooser.

A time that was taken in fewer than three rounds decides nothing. A difference is uncertain by as much as equal things lie apart (two
runs of the same contender in that cell, or what is typical where it has none; a step of the clock) and the rounds of either side
scatter; where there are rounds enough for it, the rank test of Mann and Whitney takes the place of the latter. Whatever it may be
then must be more than half a per cent for one side to be better, at most that for both to be level. Counts are the same whenever
they are taken, and know no noise.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ..results.figures import ROUNDS, Cell, Figure, Noise, distance

BETTER, LEVEL, WORSE = "better", "level", "worse"  # the first is less, neither, more
ONE_ROUND, TOO_NOISY = "one round", "too noisy to say"
UNDECIDED = {ONE_ROUND: "fewer than three rounds", TOO_NOISY: "within the noise"}

SLACK = 0.005  # two contenders no farther apart are printed as the same number
RANKED = 5  # rounds on either side from which ranks can tell more surely than SURE
SURE = 0.05


def over(first: float, second: float) -> float:
    if second == 0:
        return 1.0 if first == 0 else math.inf
    return first / second


def difference(first: Figure, second: Figure, noise: float = 0.0, slack: float = SLACK) -> str:
    """How `first` stands to `second`; less is better. `noise`: how far equal things lie apart there, as a part of the figure.
    `slack`: how little is none at all; 0 where the second is a limit."""
    if any(figure.timed and not figure.exact and figure.rounds < ROUNDS for figure in (first, second)):
        return ONE_ROUND
    ratio = over(first.median, second.median)
    apart = 0.0 if first.exact and second.exact else noise
    ranked = min(len(first.values), len(second.values)) >= RANKED and not (first.exact and second.exact)
    if not ranked:
        apart = math.hypot(apart, *(figure.scatter for figure in (first, second) if not figure.exact))  # independent of each other
    if distance(ratio) + apart <= slack:
        return LEVEL
    if distance(ratio) - apart <= slack or (ranked and chance(first.values, second.values) > SURE):
        return TOO_NOISY
    return BETTER if ratio < 1 else WORSE


def between(cell: Cell, metric: str, first: str, second: str, noise: Noise) -> str:
    """The same of two contenders in one cell; nothing where one has no figure."""
    one, other = cell.figure(first, metric), cell.figure(second, metric)
    if one is None or other is None:
        return ""
    return difference(one, other, noise.between(cell, first, second))


def limit(value: float) -> Figure:
    """What a figure may be compared with that nobody measured."""
    return Figure(value, value, value, ROUNDS, exact=True)


@lru_cache(maxsize=None)
def _arrangements(n: int, m: int, u: int) -> int:
    """In how many orders of n and m values exactly u pairs stand the wrong way round."""
    if u < 0 or n < 0 or m < 0:
        return 0
    if n == 0 or m == 0:
        return int(u == 0)
    return _arrangements(n - 1, m, u - m) + _arrangements(n, m - 1, u)


def chance(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    """Mann and Whitney's exact test, two-sided: how probable ranks at least as far apart are, if both are of one kind."""
    n, m = len(first), len(second)
    pairs = sum((a > b) + 0.5 * (a == b) for a in first for b in second)
    least = math.ceil(min(pairs, n * m - pairs))
    return min(1.0, 2 * sum(_arrangements(n, m, u) for u in range(least + 1)) / math.comb(n + m, n))
