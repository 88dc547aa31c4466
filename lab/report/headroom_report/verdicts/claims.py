"""The documents' claims and Headroom's promises: data in lab/experiments/*/claims.json, decided here by a handful of rules.

A claim belongs to the experiment in whose folder it stands, and names the document that made it; a promise's is "Headroom".

A rule picks cells of its experiment (`where`), computes one quantity in each, and compares it (`must`). It holds if it does so
in `in`: "every" cell (unless said otherwise), in "some" cell, in "most" (more than half), in "nine of ten", or in the
"largest"; or if their "geometric mean" does.

`where` gives for a parameter a value, a list of values, or {"min": ..., "max": ...}. A flag that is absent is false.

Quantities:
  {"ratio": METRIC, "of": A, "to": B}                       A's figure / B's, in one cell. B may be "the best of the others": the
                                                            contender with the least figure that is neither Headroom's nor a bound
                                                            of the lab's. "to_where": {NAME: VALUE}: B's figure is taken from the
                                                            cell that differs in these parameters alone.
                                                            A may be a list: each of them in each cell; B then is a list of
                                                            those they are divided by, or one for all. B may be "the best of
                                                            its strategy": the best of the others under A's. "among" and
                                                            "without" name who may or may not be the best; "whose" names one
                                                            contender, under whatever allocator is preloaded. "per": [C, D] (a
                                                            list of such for a list): the ratio divided by that of C and D
  {"value": METRIC, "of": A, "less": M2, "over": M3}        A's figure, less another metric, divided by a third (both optional)
  {"value": ..., "of": ..., "against": {"experiment", "where", "value", "of"}}   the figure / the one found elsewhere
  {"sequence": METRIC, "of": A, "published": TABLE, "rows": {...}, "column": C}  1 if A's list is the published one, else 0
  {"tail": HISTOGRAM, "of": A, "one_in": N, "at": F, "against": {"experiment", "where", "value", "of": [...]}}
                                                            the slowest Nth part of A's samples, at its quantile F, divided by the
                                                            sum of the figures found elsewhere
  {"survives": A, "where_fails": B}                         1 if A ended well where B did not; nothing where B did not fail

`must` is an operator and a limit: "<= 0.33", "> 1", "== 1", "within 3" (between a third and three times), "between 1.02 1.1".
With "failing": "holds" a contender `of` that did not end well has shown what the claim says.
"""

from __future__ import annotations

import json
import math
import operator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Iterable

from ..results import published
from ..results.figures import ROUNDS, Cell, Figure, Noise, distance, is_timed, percentile, quotient, summarise
from ..results.strategies import HEADROOM, PRELOADED, implementation, is_peer, strategy

PROMISES = "Headroom"  # the document whose claims are promises

HOLDS, FAILS, NOT_RUN, PARTLY = "holds", "does not hold", "not run", "holds where run"
# What the figures do not decide: a time that was taken in fewer than three rounds, or that lies closer to the limit than the noise.
ONE_ROUND, TOO_NOISY = "one round", "too noisy to say"
UNDECIDED = (ONE_ROUND, TOO_NOISY)

THE_BEST = "the best of the others"
THE_BEST_ALIKE = "the best of its strategy"
MEAN = "geometric mean"

OPERATORS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq}


@dataclass(frozen=True)
class Claim:
    id: str
    document: str
    sentence: str
    rule: dict = field(hash=False)
    place: str = ""
    published: dict = field(default_factory=dict, hash=False)
    asked: str = ""
    note: str = ""
    overturn: bool = False  # a claim that Headroom was built to make untrue

    @property
    def published_text(self) -> str:
        if "ratio" in self.published:
            return f"{published.ratio(self.published['ratio']):.3g}{self.published.get('unit', '×')}"
        return self.published.get("text", "")


@dataclass(frozen=True)
class Finding:
    """The quantity in one cell."""

    parameters: dict[str, object]
    figure: Figure | None  # None when a contender did not end well; `why` says how
    good: bool
    why: str = ""
    unsure: str = ""  # ONE_ROUND or TOO_NOISY, where it could have come out the other way


@dataclass
class Verdict:
    claim: Claim
    state: str
    findings: list[Finding] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # asked for, and not run
    remarks: list[str] = field(default_factory=list)

    @property
    def decisive(self) -> Finding | None:
        """The finding the verdict hangs on: the worst of those that had to hold, the best of those that could. Where every cell
        had to hold, only those that decided it: no undecided cell stands for a verdict, and no decided one for none."""
        known = [finding for finding in self.findings if finding.figure is not None]
        if "in" not in self.claim.rule:
            decided = {
                FAILS: lambda finding: not finding.good and not finding.unsure,
                ONE_ROUND: lambda finding: finding.unsure == ONE_ROUND,
                TOO_NOISY: lambda finding: finding.unsure == TOO_NOISY,
            }.get(self.state, lambda finding: True)
            known = [finding for finding in known if decided(finding)]
            if not known and self.state == FAILS:
                return next((finding for finding in self.findings if not finding.good), None)
        if not known:
            return None
        sign, _, limit = self.claim.rule["must"].partition(" ")
        if self.claim.rule.get("in") == "most":
            return sorted(known, key=lambda finding: finding.figure.median)[len(known) // 2]
        if self.claim.rule.get("in") == "nine of ten":  # the best of the tenth that may miss, if it is less that is wanted
            return sorted(known, key=lambda finding: finding.figure.median)[math.ceil(0.9 * len(known)) - 1]
        if sign == "within":
            return max(known, key=lambda finding: max(finding.figure.median, 1 / (finding.figure.median or 1e-300)))
        if sign == "between":
            low, high = map(float, limit.split())
            return max(known, key=lambda finding: abs(finding.figure.median - (low + high) / 2))
        if sign == "==":
            return min(known, key=lambda finding: finding.good)
        up = sign in (">", ">=")
        some = self.claim.rule.get("in") == "some"
        return (max if up == some else min)(known, key=lambda finding: finding.figure.median)


def load(path: Path) -> list[Claim]:
    found = json.loads(path.read_text(encoding="utf-8"))
    return [Claim(**{**claim, "rule": {"experiment": path.parent.name, **claim["rule"]}}) for claim in found]


@lru_cache
def every() -> tuple[Claim, ...]:
    return tuple(claim for path in sorted(published.EXPERIMENTS.glob("*/claims.json")) for claim in load(path))


def _in_order(found: list[Claim], experiments: Iterable[str]) -> list[Claim]:
    places = {name: place for place, name in enumerate(experiments)}
    return sorted(found, key=lambda claim: (claim.document, places.get(claim.rule["experiment"], len(places))))


def documents_claims(experiments: Iterable[str] = ()) -> list[Claim]:
    """What the documents claim: document by document, and in each by the order of the experiments."""
    return _in_order([claim for claim in every() if claim.document != PROMISES], experiments)


def promises(experiments: Iterable[str] = ()) -> list[Claim]:
    return _in_order([claim for claim in every() if claim.document == PROMISES], experiments)


def matches(parameters: dict[str, object], where: dict) -> bool:
    for name, wanted in where.items():
        value = parameters.get(name, False if wanted is False else None)
        if isinstance(wanted, dict):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return False
            if value < wanted.get("min", value) or value > wanted.get("max", value):
                return False
        elif isinstance(wanted, list):
            if value not in wanted:
                return False
        elif value != wanted:
            return False
    return True


def satisfied(figure: float, must: str) -> bool:
    sign, _, limit = must.partition(" ")
    if sign == "between":
        low, high = map(float, limit.split())
        return low <= figure <= high
    if sign == "within":
        return 1 / float(limit) <= figure <= float(limit)
    return OPERATORS[sign](figure, float(limit))


def _size(parameters: dict[str, object]) -> float:
    return max(
        (value for value in parameters.values() if isinstance(value, (int, float)) and not isinstance(value, bool)),
        default=0,
    )


def _contenders(quantity: dict) -> list[str]:
    return [quantity[name] for name in ("of", "to") if name in quantity]


def _elsewhere(quantity: dict, cell: Cell, everything: list[Cell]) -> Cell | None:
    """The cell that the figure divided by comes from: the same, unless the rule names parameters in which it differs."""
    if "to_where" not in quantity:
        return cell
    wanted = {**cell.parameters, **quantity["to_where"]}
    return next((one for one in everything if one.experiment == cell.experiment and one.parameters == wanted), None)


def _best_of_others(cell: Cell, quantity: dict) -> str | None:
    """The best of the others, or of those of the same strategy, as far as the rule admits them."""
    alike = quantity["to"] == THE_BEST_ALIKE
    found = [
        (figure.median, name)
        for name in cell.contenders
        if is_peer(name)
        and not (alike and strategy(name) != strategy(quantity["of"]))
        and implementation(name) in quantity.get("among", [implementation(name)])
        and implementation(name) not in quantity.get("without", [])
        and name.split(PRELOADED)[0] == quantity.get("whose", name.split(PRELOADED)[0])
        and (figure := cell.figure(name, quantity["ratio"])) is not None
    ]
    return min(found)[1] if found else None


def _tail(cell: Cell, quantity: dict, everything: list[Cell]) -> Figure | None:
    other = quantity["against"]
    where = [one for one in everything if one.experiment == other["experiment"] and matches(one.parameters, other["where"])]
    figures = [one.figure(name, other["value"]) for one in where[:1] for name in other["of"]]
    found = [run.metrics[quantity["tail"]] for run in cell.ok(quantity["of"]) if quantity["tail"] in run.metrics]
    samples = [metric for metric in found if sum(metric.counts)]
    if not samples or not figures or any(figure is None for figure in figures):
        return None
    at = 1 - (1 - quantity["at"]) / quantity["one_in"]
    timed = is_timed(quantity["tail"], samples[0].unit)
    tails = summarise((percentile(metric, at) for metric in samples), samples[0].unit, timed)
    below = replace(
        figures[0],
        median=sum(figure.median for figure in figures),
        rounds=min(figure.rounds for figure in figures),
        scatter=max(figure.scatter for figure in figures),
    )
    return quotient(tails, below)


def _count(value: float) -> Figure:
    return Figure(value, value, value, 1, exact=True)


def _ended(cell: Cell, contender: str) -> bool:
    """Whether there is a figure of it to go by. One of Headroom's must have ended well each time."""
    return bool(cell.ok(contender)) and not (contender.startswith(HEADROOM) and cell.failed(contender))


def _figure(cell: Cell, quantity: dict, everything: list[Cell]) -> tuple[Figure | None, str]:
    """The quantity in one cell, or why there is none; ("", no figure) means that the cell says nothing about it."""
    if "survives" in quantity:
        first, second = cell.outcome(quantity["survives"]), cell.outcome(quantity["where_fails"])
        if first in (None, "absent", "not_run") or second not in ("bad_alloc", "killed"):
            return None, ""
        value = 1.0 if first == "ok" else 0.0
        return _count(value), f"{quantity['survives']}: {first}; {quantity['where_fails']}: {second}"

    other = _elsewhere(quantity, cell, everything)
    if other is None:
        return None, ""
    chosen = quantity.get("to") in (THE_BEST, THE_BEST_ALIKE)
    if chosen:
        best = _best_of_others(other, quantity)
        if best is None:
            return None, ""
        quantity = {**quantity, "to": best}
    ended = [(cell, quantity["of"])] + ([(other, quantity["to"])] if "to" in quantity else [])
    if any(not where.ok(contender) and not where.failed(contender) for where, contender in ended):
        return None, ""
    bad = [f"{contender}: {where.failed(contender)}" for where, contender in ended if not _ended(where, contender)]
    if bad:
        return None, "; ".join(bad)

    if "tail" in quantity:
        return _tail(cell, quantity, everything), ""
    if "ratio" in quantity:
        if other is cell:
            why = f"against {quantity['to']}" if chosen or not quantity["to"].startswith("std::") else ""
            figure = cell.ratio(quantity["ratio"], quantity["of"], quantity["to"])
            if "per" in quantity and figure is not None:
                per = cell.ratio(quantity["ratio"], *quantity["per"])
                figure = quotient(figure, per) if per is not None else None
            return figure, why
        first, second = cell.figure(quantity["of"], quantity["ratio"]), other.figure(quantity["to"], quantity["ratio"])
        return quotient(first, second) if first is not None and second is not None else None, ""
    if "sequence" in quantity:
        here = cell.sequence(quantity["of"], quantity["sequence"])
        if here is None:
            return None, ""
        there = published.tables()[quantity["published"]].column(quantity["column"], quantity["rows"])
        same = 1.0 if list(here) == there else 0.0
        return _count(same), (
            f"{len(here)} growths, the last at {int(here[-1]):,}" if here else "no growth"
        )
    figure = cell.figure(quantity["of"], quantity["value"])
    if figure is None:
        return None, ""
    less = cell.figure(quantity["of"], quantity["less"]) if "less" in quantity else _count(0)
    over = cell.figure(quantity["of"], quantity["over"]) if "over" in quantity else _count(1)
    if less is None or over is None or over.median == 0:
        return None, ""
    divisor = over.median
    if "against" in quantity:
        other = quantity["against"]
        there = [
            found
            for found in (
                one.figure(other["of"], other["value"])
                for one in everything
                if one.experiment == other["experiment"] and matches(one.parameters, other["where"])
            )
            if found
        ]
        if not there or there[0].median == 0:
            return None, ""
        divisor *= there[0].median
    low, middle, high = ((value - less.median) / divisor for value in (figure.low, figure.median, figure.high))
    scatter = figure.scatter * abs(figure.median / (middle * divisor)) if middle else 0.0
    return replace(figure, median=middle, low=low, high=high, scatter=scatter, unit=figure.unit if divisor == 1 else ""), ""


def _each(quantity: dict) -> list[dict]:
    """The quantity for each contender it speaks of."""
    if not isinstance(quantity.get("of"), list) or "tail" in quantity:
        return [quantity]
    told = {key: quantity[key] for key in ("of", "to", "per") if isinstance(quantity.get(key), list)}
    return [{**quantity, **dict(zip(told, values))} for values in zip(*told.values(), strict=True)]


def _mean(findings: list[Finding], must: str) -> list[Finding]:
    """One finding for all: their geometric mean. Those that did not end well stay, and decide."""
    known = [finding for finding in findings if finding.figure is not None and finding.figure.median > 0]
    failed = [finding for finding in findings if finding.figure is None]
    if not known:
        return failed
    value = math.exp(sum(math.log(finding.figure.median) for finding in known) / len(known))
    worst = max(known, key=lambda finding: finding.figure.median)
    why = f"geometric mean of {len(known)} cells, the largest {worst.figure.median:.2f}"
    # Each cell differs by accident for itself, so that together they differ by less.
    figures = [finding.figure for finding in known]
    mean = replace(
        figures[0],
        median=value,
        low=value,
        high=value,
        unit="",
        rounds=min(figure.rounds for figure in figures),
        timed=any(figure.timed for figure in figures),
        exact=all(figure.exact for figure in figures),
        scatter=max(figure.scatter for figure in figures) / math.sqrt(len(figures)),
    )
    return [Finding({}, mean, satisfied(value, must), why), *failed]


def unsure(figure: Figure, must: str, apart: float) -> str:
    """Whether the figure may stand on this side of the limit by accident. `apart`: how far equal things lie apart there."""
    if figure.timed and figure.rounds < ROUNDS:
        return ONE_ROUND
    noise = 0.0 if figure.exact else max(apart, figure.noise)
    if not noise:
        return ""
    sign, _, limit = must.partition(" ")
    value = float(limit.split()[0]) if limit else 0.0
    limits = [float(text) for text in limit.split()] if sign != "within" else [value, 1 / value]
    near = min((distance(figure.median / one) for one in limits if one > 0), default=float("inf"))
    return TOO_NOISY if near <= noise else ""


def decide(claim: Claim, everything: list[Cell]) -> Verdict:
    """Evaluates a claim over the cells of one machine."""
    rule = claim.rule
    quantity, must = rule["quantity"], rule["must"]
    cells = [
        cell for cell in everything if cell.experiment == rule["experiment"] and matches(cell.parameters, rule["where"])
    ]
    cells.sort(key=lambda cell: _size(cell.parameters))
    metric = quantity.get("ratio", quantity.get("value", ""))
    noise = Noise([cell for cell in everything if cell.experiment == rule["experiment"]], metric)
    findings = []
    reasons = []
    skipped: dict[str, int] = {}
    for each in _each(quantity):
        for cell in cells:
            if nothing := cell.uncountable(metric, *(name for name in _contenders(each) if name in cell.runs)):
                skipped[nothing] = skipped.get(nothing, 0) + 1
                continue
            figure, why = _figure(cell, each, everything)
            if each is not quantity and figure is not None:
                why = each["of"] + (f" {why}" if why else "")
            if figure is not None:
                apart = max(noise.at(cell), cell.step(metric, *_contenders(each))) if metric else 0.0
                open_ = unsure(figure, must, apart)
                findings.append(Finding(cell.parameters, figure, satisfied(figure.median, must), why, open_))
            elif why:
                reasons.append((cell, each, why))
    verdict = Verdict(claim, NOT_RUN, findings)
    for cell, each, why in reasons:
        # Whoever should have shown something and did not end well has shown the opposite; if only the one it is
        # compared with failed, there is nothing to compare.
        first, others = each.get("of", ""), _contenders(each)[1:]
        others = [other for other in others if other not in (THE_BEST, THE_BEST_ALIKE)]
        if first.startswith(HEADROOM) and not _ended(cell, first) and all(cell.ok(other) for other in others):
            findings.append(Finding(cell.parameters, None, rule.get("failing") == "holds", why))
        else:
            verdict.remarks.append(f"{why}, so nothing to compare")
    verdict.remarks += [f"{count} cells left out: {why}" for why, count in skipped.items()]
    if rule.get("in") == "largest":
        findings[:] = sorted(findings, key=lambda finding: _size(finding.parameters))[-1:]
    verdict.missing = _missing(rule, findings)
    if rule.get("in") == MEAN:
        findings[:] = [
            replace(one, unsure=unsure(one.figure, must, noise.typical)) if one.figure else one for one in _mean(findings, must)
        ]
    if not findings:
        if not verdict.remarks and any(cell.experiment == rule["experiment"] for cell in everything):
            verdict.remarks.append("The experiment was run, but not the cells that this speaks of")
        return verdict
    # What may be an accident decides nothing: the verdict must be the same whichever way it had come out.
    holds = _holds([finding.good or bool(finding.unsure) for finding in findings], rule.get("in"))
    certainly = _holds([finding.good and not finding.unsure for finding in findings], rule.get("in"))
    if holds != certainly:
        verdict.state = ONE_ROUND if any(finding.unsure == ONE_ROUND for finding in findings) else TOO_NOISY
    elif not holds:
        verdict.state = FAILS
    else:
        verdict.state = PARTLY if verdict.missing else HOLDS
    return verdict


def _holds(good: list[bool], how: str | None) -> bool:
    if how == "some":
        return any(good)
    if how == "most":
        return 2 * sum(good) > len(good)
    if how == "nine of ten":
        return sum(good) >= 0.9 * len(good)
    return all(good)


def _missing(rule: dict, findings: list[Finding]) -> list[str]:
    wanted = {
        **{name: value for name, value in rule["where"].items() if isinstance(value, list)},
        **rule.get("complete", {}),
    }
    if not findings:
        return []
    missing = []
    for name, values in wanted.items():
        seen = {finding.parameters.get(name) for finding in findings}
        missing += [f"{name} {value}" for value in values if value not in seen]
    return missing


def decide_all(claims: Iterable[Claim], everything: list[Cell]) -> list[Verdict]:
    return [decide(claim, everything) for claim in claims]
