# SPDX-License-Identifier: MIT
"""The one rule of difference: the same results with other noise turn no verdict round, and ranks tell where there are rounds enough."""

import random
import statistics
from dataclasses import replace
from itertools import combinations
from math import comb

import pytest
from headroom_report.page import experiments
from headroom_report.results import figures, reading
from headroom_report.results.figures import summarise
from headroom_report.verdicts import claims, standing
from headroom_report.verdicts.difference import BETTER, LEVEL, ONE_ROUND, TOO_NOISY, WORSE, chance, difference, limit


def times(*values):
    return summarise(values, "s", True)


@pytest.mark.parametrize(
    "first, second, noise, found",
    [
        (times(1, 1, 1), times(2, 2, 2), 0, BETTER),
        (times(2, 2, 2), times(1, 1, 1), 0, WORSE),
        (times(1, 1, 1), times(1.004, 1.004, 1.004), 0, LEVEL),
        (times(1, 1, 1), times(1.01, 1.01, 1.01), 0.02, TOO_NOISY),
        (times(1, 1, 1), times(1.1, 1.1, 1.1), 0.2, TOO_NOISY),  # two runs of the same lay farther apart
        (times(0.9, 1.0, 1.1), times(0.95, 1.1, 1.2), 0, TOO_NOISY),
        (times(1, 1.01, 49), times(2, 2, 2), 0, BETTER),  # one stalled round decides nothing
        (times(1, 1), times(9, 9, 9), 0, ONE_ROUND),
        (times(0, 0, 0), times(1, 1, 1), 0, BETTER),
        (times(1, 1, 1), times(0, 0, 0), 0, WORSE),
        (summarise([10], exact=True), summarise([9], exact=True), 0.5, WORSE),  # counts know no noise
        (summarise([9], exact=True), summarise([9], exact=True), 0, LEVEL),
        (summarise([4096], "B"), limit(4096.0), 0, LEVEL),
    ],
)
def test_less_more_level_or_undecided(first, second, noise, found):
    assert difference(first, second, noise) == found


def test_a_limit_has_no_slack():
    assert difference(times(1.001, 1.001, 1.001), limit(1), slack=0.0) == WORSE
    assert difference(times(1, 1, 1), limit(1), slack=0.0) == LEVEL
    assert difference(times(1, 1, 1), limit(1.01), noise=0.02, slack=0.0) == TOO_NOISY


def test_ranks_decide_where_there_are_rounds_enough():
    wide = times(1.0, 1.2, 1.4, 1.6, 1.8)  # scatters more than the two differ, and yet none is as large as the other's least
    assert difference(wide, times(1.9, 1.95, 2.0, 2.3, 2.6)) == BETTER
    assert difference(wide, times(1.1, 1.3, 1.5, 1.7, 1.9)) == TOO_NOISY
    assert difference(wide, times(1.9, 1.95, 2.0, 2.3, 2.6), noise=0.8) == TOO_NOISY


@pytest.mark.parametrize("n, m", [(3, 3), (4, 5), (5, 5)])
def test_the_rank_test_is_the_share_of_all_orders_that_are_as_far_apart(n, m):
    for places in combinations(range(n + m), n):
        first, second = tuple(places), tuple(set(range(n + m)) - set(places))
        wrong = min(sum(a > b for a in first for b in second), sum(a < b for a in first for b in second))
        every = [sum(a > b for a in one for b in set(range(n + m)) - set(one)) for one in combinations(range(n + m), n)]
        assert chance(first, second) == pytest.approx(min(1.0, 2 * sum(u <= wrong for u in every) / comb(n + m, n)))


@pytest.fixture(scope="module")
def measured(published):
    return published.machines[0].cells


def shaken(cells, chance):
    """The same results with other noise: a contender's rounds lie as far from its median as they did, in another order and on either
    side of it."""
    found = []
    for cell in cells:
        runs = {name: list(own) for name, own in cell.runs.items()}
        for own in runs.values():
            metrics = sorted({name for run in own for name, metric in run.metrics.items() if figures.is_timed(name, metric.unit) and len(metric.values) == 1})
            for name in metrics:
                there = [(at, run.metrics[name]) for at, run in enumerate(own) if run.outcome == "ok" and name in run.metrics]
                if not there:
                    continue
                middle = statistics.median(metric.values[0] for _, metric in there)
                apart = [metric.values[0] / middle if middle > 0 and metric.values[0] > 0 else 1.0 for _, metric in there]
                chance.shuffle(apart)
                for (at, metric), one in zip(there, apart):
                    value = middle * one ** chance.choice((1, -1))
                    own[at] = replace(own[at], metrics={**own[at].metrics, name: reading.Metric(metric.unit, (value,))})
        found.append(figures.Cell(cell.experiment, cell.parameters, runs))
    return found


def verdicts(cells):
    """Of every place and every claim what was decided."""
    found = {}
    for place in standing.of(cells, experiments.every()).places:
        found[place.experiment, place.metric, str(place.parameters)] = "" if place.undecided else "best" if place.best else "behind"
    for claim in claims.every():
        state = claims.decide(claim, cells).state
        found[claim.id] = {claims.HOLDS: "holds", claims.PARTLY: "holds", claims.FAILS: "fails"}.get(state, "")
    return found


def test_the_same_results_with_other_noise_turn_no_verdict_round(measured):
    before = verdicts(measured)
    assert sum(bool(one) for one in before.values()) > 700
    for seed in range(3):
        after = verdicts(shaken(measured, random.Random(seed)))
        assert [key for key, one in before.items() if one and after.get(key) and after[key] != one] == []


class Scaled(figures.Cell):
    """Without noise, and with the figures of some contenders so many times as large."""

    def __init__(self, cell, wanted):
        super().__init__(cell.experiment, cell.parameters, {name: runs for name, runs in cell.runs.items() if not name.endswith(figures.PAIRED)})
        self.times = {name: times for (where, name), times in wanted.items() if where == str(cell.parameters)}

    def figure(self, contender, metric):
        found = super().figure(contender, metric)
        return replace(found.times(self.times.get(contender, 1), found.unit), scatter=0.0) if found else None


OF_TWO_METRICS = ("memory-peak", "memory-three-times")  # what is divided by would grow, too: see test_claims.py
NOT_IN_THE_REPORT = ("include-time", "memory-reaches-further")


@pytest.mark.parametrize("claim", claims.every(), ids=lambda claim: claim.id)
def test_each_claim_can_come_out_both_ways_and_not_run(claim, measured):
    own = [cell for cell in measured if cell.experiment in (claim.experiment, "commit-cost")]
    verdict = claims.decide(claim, own)
    assert claims.decide(claim, []).state == claims.NOT_RUN
    assert claims.decide(claim, [replace(cell, experiment="another") for cell in own]).state == claims.NOT_RUN
    published = any(cell.experiment == claim.experiment for cell in own)
    assert (verdict.state == claims.NOT_RUN) == (claim.id in NOT_IN_THE_REPORT or not published)
    if not any(one.of for one in verdict.asked) or claim.id in OF_TWO_METRICS:
        return
    low, high = verdict.limits[0], verdict.limits[-1]
    good = (low * high) ** 0.5 if low != high else low / 4 if verdict.sign in ("<", "<=") else low * 4
    bad = high * 4 if verdict.sign in ("<", "<=", "between") else low / 4
    for aim, states in ((good, (claims.HOLDS, claims.PARTLY)), (bad, (claims.FAILS,))):
        times = {(str(one.parameters), one.of): aim / one.figure.median for one in verdict.asked if one.first and one.figure.median}
        assert claims.decide(claim, [Scaled(cell, times) for cell in own]).state in states
