# SPDX-License-Identifier: MIT
"""Medians, ranges, percentiles, noise, and Headroom's standing."""

import math
import pathlib
import re

import pytest
from headroom_report.page import experiments
from headroom_report.results import figures, strategies
from headroom_report.results.reading import Metric
from headroom_report.verdicts import claims, standing
from headroom_report.verdicts.difference import BETTER, LEVEL, ONE_ROUND, TOO_NOISY, WORSE

from samples import SETTLED, a_run, rounds


def one_growth(contender, *values, size=4096, outcome="ok"):
    return rounds("one-growth", contender, values, outcome=outcome, bytes=size)


def ended(contender, outcome, size=4096):
    """A run that was begun and gave no figure."""
    return [a_run("one-growth", contender, {"bytes": size}, {}, outcome)]


def one_cell(*runs):
    (cell,) = figures.cells([run for own in runs for run in own])
    return cell


def test_a_figure_is_the_median_over_rounds_with_lowest_and_highest():
    figure = one_cell(one_growth("a", 5.0, 1.0, 2.0)).figure("a", "time")
    assert (figure.median, figure.low, figure.high, figure.rounds) == (2.0, 1.0, 5.0, 3)


def test_rounds_that_did_not_end_well_do_not_count():
    cell = one_cell(one_growth("a", 1.0), ended("a", "killed"))
    assert cell.figure("a", "time").rounds == 1
    assert cell.outcome("a") == "killed"


def test_a_process_that_repeats_gives_the_median_of_its_repetitions():
    assert figures.scalar(Metric("s", (3.0, 1.0, 9.0))) == 3.0


def test_percentiles_of_a_histogram_are_by_nearest_rank():
    metric = Metric("s", (10.0, 20.0, 30.0), (50, 49, 1))
    assert [figures.percentile(metric, part) for part in (0.5, 0.51, 0.99, 0.991, 1)] == [10, 20, 20, 30, 30]


def test_histograms_of_all_rounds_are_added_up():
    runs = one_growth("a", 0.0, 0.0)
    for run in runs:
        run.metrics["h"] = Metric("s", (1.0, 2.0), (3, 4))
    assert one_cell(runs).histogram("a", "h") == Metric("s", (1.0, 2.0), (6, 8))


def test_a_ratio_is_of_medians_and_its_range_of_rounds_paired():
    ratio = one_cell(one_growth("a", 1.0, 2.0, 3.0), one_growth("b", 2.0, 2.0, 12.0)).ratio("time", "a", "b")
    assert (ratio.median, ratio.low, ratio.high) == (1.0, 0.25, 1.0)


def test_a_cells_noise_is_how_far_its_own_pair_lies_apart_either_way_and_where_it_has_none_the_usual():
    runs = one_growth("a", 1.0, size=5)
    for size, other in ((1, 1.0), (2, 1.1), (3, 1 / 1.1), (4, 3.0)):
        runs += one_growth("a", 1.0, size=size) + one_growth("a#2", other, size=size)
    cells = sorted(figures.cells(runs), key=lambda cell: cell.parameters["bytes"])
    noise = figures.Noise(cells, "time")
    assert noise and [noise.at(cell) for cell in cells] == pytest.approx([0.0, 0.1, 0.1, 2.0, 0.1])
    nothing = figures.Noise(cells[4:], "time")
    assert not nothing and nothing.at(cells[4]) == 0


def test_cells_are_told_apart_by_every_parameter():
    points = ({"elements": 1}, {"elements": 1, "warm": True}, {"elements": 2})
    assert len(figures.cells(run for point in points for run in rounds("throughput", "a", [1.0], **point))) == 3


def places(*runs):
    return standing.of(figures.cells([run for own in runs for run in own]), experiments.every())


def test_best_close_and_behind_are_counted_and_losses_come_worst_first():
    ratios = {1: 0.9, 2: 1.04, 3: 1.5, 4: 3.0}
    result = places(*(one_growth(name, *[time] * 3, size=size) for size, ours in ratios.items() for name, time in ((SETTLED, ours), ("std::vector", 1.0))))
    assert standing.counted(result.places) == (1, 1, 2, 0) and len(result.losses) == 3
    assert [place.ratio for place in result.losses] == [3.0, 1.5, 1.04]


def test_only_the_default_counts():
    times = {SETTLED: 2.0, SETTLED + "/huge_pages": 0.5, "std::vector": 1.0, "boost::container::vector": 4.0}
    (loss,) = places(*(one_growth(name, time) for name, time in times.items())).losses
    assert (loss.ours, loss.other, loss.ratio) == (SETTLED, "std::vector", 2.0)


def test_our_failure_is_the_worst_loss_and_a_peers_failure_is_no_contest_lost():
    result = places(
        one_growth(SETTLED, 1.0, 1.0, size=1) + ended(SETTLED, "bad_alloc", 1),  # however fast the other rounds were
        one_growth("std::vector", 2.0, size=1),
        one_growth(SETTLED, 9.0, size=2),
        ended("std::vector", "killed", 2),
        one_growth(SETTLED, 2.0, size=3),
        one_growth("std::vector", 1.0, size=3),
    )
    assert [(place.ratio, place.why) for place in result.losses] == [(math.inf, "bad_alloc"), (2.0, "")]
    assert [place.ratio for place in result.places if place.best] == [0.0]


def test_headroom_under_a_preloaded_allocator_is_no_default_and_others_under_one_are_peers():
    times = {SETTLED: 3.0, f"{SETTLED} under jemalloc": 1.0, "std::vector": 4.0, "std::vector under jemalloc": 2.0}
    (place,) = places(*(one_growth(name, time) for name, time in times.items())).places
    assert (place.ours, place.other, place.ratio) == (SETTLED, "std::vector under jemalloc", 1.5)


def test_who_is_absent_or_mere_arithmetic_has_no_place():
    assert not places(ended(SETTLED, "absent"), one_growth("std::vector", 1.0)).places
    moved = {"headroom::geometric<2,1>": 0.0, "std::vector": 1.0}
    assert not places(*(rounds("growth", name, [value], "bytes_moved", elements=1) for name, value in moved.items())).places


@pytest.mark.parametrize(
    "ours, theirs, outcome",
    [
        ((9.0,), (1.0,), ONE_ROUND),
        ((1.0, 1.2, 1.4), (0.9, 1.1, 1.15), TOO_NOISY),
        ((1.2, 1.3, 1.4), (0.9, 1.1, 1.15), WORSE),
        ((1.002, 1.002, 1.003), (1.0, 1.0, 1.001), LEVEL),
        ((1.0, 1.01, 49.0), (1.5, 1.51, 1.52), BETTER),
    ],
)
def test_only_what_is_decided_is_lost_or_best(ours, theirs, outcome):
    (place,) = places(one_growth(SETTLED, *ours), one_growth("std::vector", *theirs)).places
    assert (place.outcome, place.lost, place.best) == (outcome, outcome == WORSE, outcome in (LEVEL, BETTER))


def test_a_cell_is_decided_by_its_own_pair_however_far_pairs_lie_apart_elsewhere():
    def cell(size, again):
        return [run for name, time in {SETTLED: 1.2, "std::vector": 1.0, "std::vector#2": again}.items() for run in one_growth(name, *[time] * 3, size=size)]

    quiet, *noisy = places(cell(1, 1.02), cell(2, 1.5), cell(3, 0.6), cell(4, 1.5)).places
    assert quiet.lost and not quiet.undecided
    assert [(place.undecided, place.other) for place in noisy] == [(TOO_NOISY, "std::vector")] * 3


def both(first, second, metric, unit, experiment, **parameters):
    """What becomes of Headroom's default against std::vector."""
    sides = ((SETTLED, first), ("std::vector", second))
    return [place.undecided for place in places(*(rounds(experiment, name, values, metric, unit, **parameters) for name, values in sides)).places]


@pytest.mark.parametrize("ours, theirs, found", [((0.0,) * 3, (3e-9,) * 3, []), ((2.3e-9,) * 3, (1.54e-9,) * 3, [TOO_NOISY]), ((3.1e-9,) * 3, (1.54e-9,) * 3, [""])])
def test_what_is_below_the_clocks_resolution_counts_for_nobody_and_one_step_of_it_is_no_difference(ours, theirs, found):
    assert both(ours, theirs, "append_p50", "s", "latency", elements=1000) == found


@pytest.mark.parametrize("elements, count", [(1_000_000, 0), (10_000_000, 1)])  # of a million one append lies beyond
def test_one_in_a_million_does_not_count_among_a_thousand(elements, count):
    assert len(both((2.0,), (1.0,), "append_p999999", "s", "latency", elements=elements)) == count


@pytest.mark.parametrize("ours, theirs, found", [
    ((1.00e6, 1.03e6, 1.06e6), (1.02e6,) * 3, TOO_NOISY),
    ((1.01e6,) * 3, (1e6,) * 3, ""),
    ((1.01e6,), (1e6,), ""),  # taken once, because it is the same every time
])
def test_bytes_that_are_not_the_same_in_every_round_know_noise_and_those_that_are_do_not(ours, theirs, found):
    assert both(ours, theirs, "peak_resident", "B", "memory", elements=1000) == [found]


COUNTS = {"growths", "address_changes", "unused_share", "instructions", "allocations"}  # the same whenever they are taken


def test_whatever_has_no_unit_and_is_judged_is_known_as_a_count_or_as_a_quotient_of_times():
    lab = pathlib.Path(__file__).resolve().parents[2]
    source = "".join(path.read_text() for path in lab.glob("experiments/*/*.[ch]pp"))
    unitless = set(re.findall(r'\{"(\w+)", \{"",', source)) | set(re.findall(r'\["(\w+)"\] = \{"",', source))
    judged = {contest.metric for experiment in experiments.every() for contest in experiment.contests}
    judged |= set(re.findall(r'\.(?:ratio|value)\("(\w+)"', "".join(path.read_text() for path in lab.glob("experiments/*/claims.py"))))
    found = judged & unitless
    assert found >= {"instructions", "degradation", "ageing", "worst"}
    assert found <= COUNTS | figures.QUOTIENTS
    assert not COUNTS & figures.QUOTIENTS
    for metric in figures.QUOTIENTS:
        figure = one_cell(rounds("any", "a", [2.0], metric, "", x=1)).figure("a", metric)
        assert figure.timed and not figure.exact


def test_where_an_allocator_is_wanted_the_default_is_compared_with_every_other():
    ours, pool = "headroom::synchronized_multipool_resource AS7", "std::pmr::synchronized_pool_resource AS7"
    times = {ours: 2.0, pool: 4.0, "std::allocator AS1": 3.0, "std::allocator AS1 under mimalloc 3.4": 1.0}
    runs = [run for name, time in times.items() for run in rounds("crossing", name, [time] * 3, blocks=9, ring=256)]
    (place,) = [place for place in places(runs).losses if place.metric == "time"]
    assert (place.other, place.ratio) == ("std::allocator AS1 under mimalloc 3.4", 2.0)


def test_under_a_strategy_each_is_compared_with_its_like():
    times = {"headroom::multipool_resource AS7": 2.0, "mimalloc heap AS7": 4.0, "std::pmr::monotonic_buffer_resource AS3": 1.0}
    point = {"structure": "DS2", "size_exponent": 6, "heap": "clean", "trimming": True}
    (place,) = places(*(rounds("data-structures", name, [time] * 3, **point) for name, time in times.items())).places
    assert (place.other, place.ratio) == ("mimalloc heap AS7", 0.5)


def test_what_promises_and_losses_compare_the_default_with_is_the_same(monkeypatch):
    """Where a promise speaks of the best of all others, the list of losses must not know of fewer."""
    seen = []
    monkeypatch.setattr(claims.Cells, "ratio", lambda self, metric, of, to, **more: seen.append((self.experiment, to)) or claims.Findings(self))
    for claim in claims.promises():
        claims.decide(claim, [])
    seen = [(name, to) for name, to in seen if callable(to)]
    assert len(seen) > 5
    known = {experiment.id: experiment for experiment in experiments.every()}
    for name, to in seen:
        experiment = known[name]
        assert experiment.alike if to.alike else not (experiment.by_strategy and experiment.alike), name


@pytest.mark.parametrize("contender, implementation, strategy", [
    ("std::allocator AS1 under mimalloc 3.4", "std::allocator under mimalloc 3.4", "AS1"),
    ("std::allocator AS1 under jemalloc#2", "std::allocator under jemalloc", "AS1"),
    ("headroom::multipool_resource over monotonic AS11#2", "headroom::multipool_resource over monotonic", "AS11"),
    ("a name AS1 and more", "a name AS1 and more", ""),
])
def test_an_implementation_is_named_without_its_strategy_also_where_an_allocator_was_preloaded(contender, implementation, strategy):
    assert (strategies.implementation(contender), strategies.strategy(contender)) == (implementation, strategy)
