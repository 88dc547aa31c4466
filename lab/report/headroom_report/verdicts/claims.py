# SPDX-License-Identifier: MIT
"""The documents' claims and Headroom's promises: functions in lab/experiments/*/claims.py, over what was measured.

    @claim(RESERVE_AND_COMMIT, "With optimisation DynArray is ahead on large arrays of unique_ptr.", "Throughput, -O2", "0.9×")
    def throughput_pointers(cells):
        return cells(element="unique_ptr<int>", elements=least(10**7)).ratio("time", PAGE_BY_PAGE, YARDSTICK) < 1

`cells` are those of the claim's own experiment; calling them leaves those with these parameters (a value, a list of values of which
each is wanted, or a range by `least` and `most`). What is asked of them (`ratio`, `value`, `figures`) gives a finding for each cell, and
comparing the findings with a limit gives the verdict: in every cell, unless `most`, `some`, `nine_of_ten`, `largest` or `mean` says
otherwise. Whether a finding stands on this side of its limit by accident is for `difference` to say, and for nobody else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Callable, Iterable

from ..results import published
from ..results.figures import Cell, Figure, Noise, geometric_mean, together
from ..results.strategies import HEADROOM, PRELOADED, implementation, is_peer, plain, strategy
from .difference import BETTER, LEVEL, ONE_ROUND, TOO_NOISY, UNDECIDED, WORSE, difference, limit

PROMISES = "Headroom"  # the document whose claims are promises

HOLDS, FAILS, NOT_RUN, PARTLY = "holds", "does not hold", "not run", "holds where run"


@dataclass(frozen=True)
class Claim:
    id: str
    document: str
    sentence: str
    body: Callable[[Cells], Verdict] = field(hash=False)
    place: str = ""
    published: str = ""  # what the document found
    asked: str = ""  # what Headroom promises
    note: str = ""
    overturn: bool = False  # a claim that Headroom was built to make untrue
    experiment: str = ""  # the folder's name


def claim(document: str, sentence: str, place: str, found: str, each: Iterable = (), **more):
    """With `each`, one claim for each of these: the sentence has its name in braces, and the function takes it."""

    def made(body) -> list[Claim]:
        name = body.__name__.replace("_", "-")
        if not each:
            return [Claim(name, document, sentence, body, place, found, **more)]
        return [
            Claim(f"{name}-{one}", document, sentence.format(one), lambda cells, one=one: body(cells, one), place, found, **more) for one in each
        ]

    return made


def promise(sentence: str, asked: str, each: Iterable = ()):
    return claim(PROMISES, sentence, "", "", each, asked=asked)


@lru_cache
def every() -> tuple[Claim, ...]:
    """In the order in which they stand in their files."""
    found = []
    for path in sorted(published.EXPERIMENTS.glob("*/claims.py")):
        made = [one for value in vars(published.module(path)).values() if isinstance(value, list) for one in value]
        found += [replace(one, experiment=path.parent.name) for one in made if isinstance(one, Claim)]
    return tuple(found)


def _in_order(found: list[Claim], experiments: Iterable[str]) -> list[Claim]:
    places = {name: place for place, name in enumerate(experiments)}
    return sorted(found, key=lambda claim: (claim.document, places.get(claim.experiment, len(places))))


def documents_claims(experiments: Iterable[str] = ()) -> list[Claim]:
    """What the documents claim: document by document, and in each by the order of the experiments."""
    return _in_order([claim for claim in every() if claim.document != PROMISES], experiments)


def promises(experiments: Iterable[str] = ()) -> list[Claim]:
    return _in_order([claim for claim in every() if claim.document == PROMISES], experiments)


# --- which cells ---------------------------------------------------------------------------------------------------------------


def least(value: float) -> Callable[[object], bool]:
    return lambda found: isinstance(found, (int, float)) and not isinstance(found, bool) and found >= value


def most(value: float) -> Callable[[object], bool]:
    return lambda found: isinstance(found, (int, float)) and not isinstance(found, bool) and found <= value


def matches(parameters: dict[str, object], where: dict) -> bool:
    """A flag that is absent is false."""
    for name, wanted in where.items():
        value = parameters.get(name, False if wanted is False else None)
        if not (wanted(value) if callable(wanted) else value in wanted if isinstance(wanted, list) else value == wanted):
            return False
    return True


def span(low: float, high: float) -> Callable[[object], bool]:
    return lambda found: least(low)(found) and most(high)(found)


def _size(parameters: dict[str, object]) -> float:
    return max((value for value in parameters.values() if isinstance(value, (int, float)) and not isinstance(value, bool)), default=0)


def best(alike: bool = False, among: Iterable[str] = (), without: Iterable[str] = (), whose: str = ""):
    """Who to divide by: the one with the least figure that is neither Headroom's nor a bound of the lab's. `alike`: of those under
    the same strategy; `whose`: of that one contender under whatever allocator is preloaded."""

    def chosen(cell: Cell, of: str, metric: str) -> str | None:
        names = [
            name
            for name in cell.contenders
            if is_peer(name)
            and not (alike and strategy(name) != strategy(of))
            and not (among and implementation(name) not in among)
            and implementation(name) not in without
            and not (whose and name.split(PRELOADED)[0] != whose)
        ]
        found = cell.least(metric, sorted(names))
        return found[0] if found else None

    chosen.alike = alike
    return chosen


@dataclass
class Cells:
    """Those of one experiment that a claim speaks of."""

    everything: list[Cell]  # of the machine
    experiment: str
    own: list[Cell] = field(default_factory=list)
    wanted: dict[str, list] = field(default_factory=dict)  # values that must all have been run

    def of(self, experiment: str) -> Cells:
        own = [cell for cell in self.everything if cell.experiment == experiment]
        return Cells(self.everything, experiment, sorted(own, key=lambda cell: _size(cell.parameters)))

    def __call__(self, **where) -> Cells:
        wanted = {name: values for name, values in where.items() if isinstance(values, list)}
        return replace(self, own=[cell for cell in self.own if matches(cell.parameters, where)], wanted={**self.wanted, **wanted})

    def wants(self, **values: list) -> Cells:
        return replace(self, wanted={**self.wanted, **values})

    def figures(self, found: Callable[[Cell], Finding | None]) -> Findings:
        return Findings(self, [one for cell in self.own if (one := found(cell))])

    def _ended(self, cell: Cell, of: str, others: list[tuple[Cell, str]], failing: bool) -> Finding | bool:
        """Whether there are figures to go by. Whoever should have shown something and did not end well has shown the opposite; if only
        the one it is compared with failed, there is nothing to compare."""
        both = [(cell, of), *others]
        if any(not where.ok(name) and not where.failed(name) for where, name in both):
            return False

        def well(where: Cell, name: str) -> bool:  # one of Headroom's must have ended well each time
            return bool(where.ok(name)) and not (name.startswith(HEADROOM) and where.failed(name))

        bad = "; ".join(f"{plain(name)}: {where.failed(name)}" for where, name in both if not well(where, name))
        if not bad:
            return True
        ours = of.startswith(HEADROOM) and not well(cell, of) and all(where.ok(name) for where, name in others)
        return Finding(cell.parameters, why=bad, shows=failing if ours else None)

    def ratio(self, metric: str, of, to, at: dict | None = None, per=None, failing: bool = False) -> Findings:
        """`of`'s figure divided by `to`'s: each a contender, or a list of them; `to` may be `best(...)`. `at`: the parameters in
        which the cell of `to` differs; `per`: the two whose ratio is divided by; `failing`: `of` that did not end well has shown
        what the claim says."""
        many = of if isinstance(of, list) else [of]
        tos = to if isinstance(to, list) else [to] * len(many)
        found = Findings(self, noise=self._noise(metric))
        for one, other, under in zip(many, tos, per or [None] * len(many), strict=True):
            for cell in self.own:
                where = cell if at is None else self._same_but(cell, at)
                name = other(where, one, metric) if callable(other) and where else other
                if name is None or where is None or not self._counts(found, cell, metric, one, [(where, name)], failing):
                    continue
                against = f"against {plain(name)}" if at is None and (callable(other) or not name.startswith("std::")) else ""
                why = f"{plain(one)} {against}".strip() if len(many) > 1 else against
                first, second = cell.figure(one, metric), where.figure(name, metric)
                if under and first and second:
                    first, second = cell.ratio(metric, one, name), cell.ratio(metric, *under)
                if first and second and second.median:
                    found.list.append(Finding(cell.parameters, first, second, found.noise.between(cell, one, name), why, one))
        return found

    def value(self, metric: str, of: str, less: str = "", over: str = "") -> Findings:
        """`of`'s own figure, less another of its metrics, divided by a third."""
        found = Findings(self, noise=self._noise(metric))
        for cell in self.own:
            if not self._counts(found, cell, metric, of, [], False):
                continue
            figure, minus, under = (cell.figure(of, name) if name else limit(value) for name, value in ((metric, 0), (less, 0), (over, 1)))
            if not figure or not minus or not under or not under.median:
                continue
            if less or over:
                middle = (figure.median - minus.median) / under.median
                scatter = figure.scatter * abs(figure.median / (middle * under.median)) if middle else 0.0
                figure = together([figure], middle, scatter=scatter, unit="" if over else figure.unit)
            found.list.append(Finding(cell.parameters, figure, noise=found.noise.between(cell, of), of=of))
        return found

    def _noise(self, metric: str) -> Noise:
        return Noise([cell for cell in self.everything if cell.experiment == self.experiment], metric)

    def _same_but(self, cell: Cell, at: dict) -> Cell | None:
        wanted = {**cell.parameters, **at}
        return next((one for one in self.everything if one.experiment == cell.experiment and one.parameters == wanted), None)

    def _counts(self, found: Findings, cell: Cell, metric: str, of: str, others: list[tuple[Cell, str]], failing: bool) -> bool:
        """Whether there are figures to go by; what stands in the way is noted."""
        names = [name for name in (of, *(name for _, name in others)) if name in cell.runs]
        if nothing := cell.uncountable(metric, *names):
            found.skipped[nothing] = found.skipped.get(nothing, 0) + 1
            return False
        ended = self._ended(cell, of, others, failing)
        found.list += [ended] if isinstance(ended, Finding) else []
        return ended is True


# --- what was found in them, and what it comes to ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """The quantity in one cell."""

    parameters: dict[str, object]
    first: Figure | None = None  # None where a contender did not end well, or where it is yes or no; `why` says how
    second: Figure = limit(1)
    noise: float = 0.0
    why: str = ""
    of: str = ""  # whose it is
    shows: bool | None = None  # without a figure: what the claim says, the opposite, or nothing
    good: bool = False
    unsure: str = ""  # ONE_ROUND or TOO_NOISY, where it could have come out the other way

    @property
    def figure(self) -> Figure | None:
        if self.first is None or self.second == limit(1):
            return self.first
        return together([self.first, self.second], self.first.median / self.second.median)

    def judged(self, wanted: list[tuple[float, set[str]]]) -> Finding:
        """Whether it stands as wanted to every limit."""
        if self.first is None:
            return replace(self, good=bool(self.shows))
        found = [(difference(self.first, self.second.times(value), self.noise, slack=0.0), outcomes) for value, outcomes in wanted]
        fails = any(one not in UNDECIDED and one not in outcomes for one, outcomes in found)
        unsure = "" if fails else next((one for one, _ in found if one in UNDECIDED), "")
        return replace(self, good=not fails and (not unsure or self._as_measured(wanted)), unsure=unsure)

    def _as_measured(self, wanted: list[tuple[float, set[str]]]) -> bool:
        value = self.figure.median
        return all((BETTER if value < at else WORSE if value > at else LEVEL) in outcomes for at, outcomes in wanted)


class Findings:
    """`<=`, `<`, `>=`, `>`, `between`, `within` and `shown` give the verdict."""

    def __init__(self, cells: Cells, found: list[Finding] | None = None, how: str = "", noise: Noise | None = None):
        self.cells, self.list, self.how, self.noise = cells, found or [], how, noise
        self.asked = self.list  # in every cell
        self.skipped: dict[str, int] = {}

    def _how(self, how: str) -> Findings:
        self.how = how
        return self

    def most(self) -> Findings:
        return self._how("most")

    def some(self) -> Findings:
        return self._how("some")

    def nine_of_ten(self) -> Findings:
        return self._how("nine of ten")

    def largest(self) -> Findings:
        self.list = sorted((one for one in self.list if one.first or one.shows is not None), key=lambda one: _size(one.parameters))[-1:]
        return self._how("largest")

    def mean(self) -> Findings:
        """One finding for all. Those that did not end well stay, and decide."""
        known = [one for one in self.list if one.figure is not None and one.figure.median > 0]
        rest = [one for one in self.list if one.first is None]
        if known:
            figures = [one.figure for one in known]
            why = f"geometric mean of {len(known)} cells, the largest {max(figure.median for figure in figures):.2f}"
            rest.insert(0, Finding({}, geometric_mean(figures), noise=self.noise.typical, why=why))
        self.list = rest
        return self._how("mean")

    def _verdict(self, sign: str, wanted: list[tuple[float, set[str]]]) -> Verdict:
        remarks = [f"{one.why}, so nothing to compare" for one in self.list if one.first is None and one.shows is None]
        remarks += [f"{count} cells left out: {why}" for why, count in self.skipped.items()]
        found = [one.judged(wanted) for one in self.list if one.first or one.shows is not None]
        missing = _missing(self.cells.wanted, self.asked if self.how == "mean" else found)
        verdict = Verdict(None, NOT_RUN, found, missing, remarks, self.how, sign, [at for at, _ in wanted], self.asked)
        if not found:
            if not remarks and any(cell.experiment == self.cells.experiment for cell in self.cells.everything):
                remarks.append("The experiment was run, but not the cells that this speaks of")
            return verdict
        # What may be an accident decides nothing: the verdict must be the same whichever way it had come out.
        needed = _needed(self.how, len(found))
        holds = sum(one.good or bool(one.unsure) for one in found) >= needed
        certainly = sum(one.good and not one.unsure for one in found) >= needed
        if holds != certainly:
            verdict.state = ONE_ROUND if any(one.unsure == ONE_ROUND for one in found) else TOO_NOISY
        else:
            verdict.state = FAILS if not holds else PARTLY if verdict.missing else HOLDS
        return verdict

    def __le__(self, value: float) -> Verdict:
        return self._verdict("<=", [(value, {BETTER, LEVEL})])

    def __lt__(self, value: float) -> Verdict:
        return self._verdict("<", [(value, {BETTER})])

    def __ge__(self, value: float) -> Verdict:
        return self._verdict(">=", [(value, {WORSE, LEVEL})])

    def __gt__(self, value: float) -> Verdict:
        return self._verdict(">", [(value, {WORSE})])

    def shown(self) -> Verdict:
        """Of findings that are yes or no."""
        return self._verdict("", [])

    def between(self, low: float, high: float) -> Verdict:
        return self._verdict("between", [(low, {WORSE, LEVEL}), (high, {BETTER, LEVEL})])

    def within(self, times: float) -> Verdict:
        """Between a so manieth and so many times."""
        return self.between(1 / times, times)


@dataclass
class Verdict:
    claim: Claim | None
    state: str
    findings: list[Finding] = field(default_factory=list)
    missing: list[tuple[str, object]] = field(default_factory=list)  # parameters that were asked for, and not run
    remarks: list[str] = field(default_factory=list)
    how: str = ""  # in "" (every cell), most, some, nine of ten, the largest, the mean
    sign: str = "<="
    limits: list[float] = field(default_factory=list)
    asked: list[Finding] = field(default_factory=list)  # in every cell, before it came to a mean or to the largest

    @property
    def decisive(self) -> Finding | None:
        """The finding the verdict hangs on: of as many as had to be as claimed, the best first, the last. Where every cell had to,
        only those that decided it: no undecided cell stands for a verdict, and no decided one for none."""
        known = [one for one in self.findings if one.first is not None]
        if not self.how:
            decided = {
                FAILS: lambda one: not one.good and not one.unsure,
                ONE_ROUND: lambda one: one.unsure == ONE_ROUND,
                TOO_NOISY: lambda one: one.unsure == TOO_NOISY,
            }.get(self.state, lambda one: True)
            known = [one for one in known if decided(one)]
            if not known and self.state == FAILS:
                return next((one for one in self.findings if not one.good), None)
        if not known:
            return None
        return sorted(known, key=self.badness)[_needed(self.how, len(known)) - 1]

    def badness(self, one: Finding) -> float:
        """More for what lies farther on the other side of what is claimed."""
        if one.figure is None:
            return math.inf
        value = one.figure.median
        if self.sign == "between" and self.how != "most":
            return abs(math.log(value / math.sqrt(self.limits[0] * self.limits[1]))) if value > 0 else math.inf
        return value if self.sign in ("<", "<=") else -value


def decide(claim: Claim, everything: list[Cell]) -> Verdict:
    """Over the cells of one machine."""
    return replace(claim.body(Cells(everything, claim.experiment).of(claim.experiment)), claim=claim)


def _needed(how: str, count: int) -> int:
    """In how many of so many cells it must be as claimed."""
    return {"most": count // 2 + 1, "some": 1, "nine of ten": math.ceil(0.9 * count)}.get(how, count)


def _missing(wanted: dict[str, list], found: list[Finding]) -> list[tuple[str, object]]:
    there = [one for one in found if one.first or one.shows is not None]
    return [
        (name, value)
        for name, values in (wanted.items() if there else ())
        for value in values
        if value not in {one.parameters.get(name) for one in there}
    ]
