"""Medians, ranges, percentiles, noise, and Headroom's standing."""

import math
import pathlib
import re

import pytest
from headroom_report.page import experiments
from headroom_report.results import figures, strategies
from headroom_report.verdicts import claims, standing
from headroom_report.results.reading import Metric, Run

import samples


def a_run(contender, value, number=0, outcome="ok", experiment="one-growth", metric="time", **parameters):
    metrics = {metric: Metric("s", (value,))} if value is not None else {}
    return Run(
        "m", experiment, contender, tuple(sorted((parameters or {"bytes": 4096}).items())), number, outcome, "", metrics
    )


def one_cell(*runs):
    (cell,) = figures.cells(runs)
    return cell


def test_a_figure_is_the_median_over_rounds_with_lowest_and_highest():
    cell = one_cell(*(a_run("a", value, number) for number, value in enumerate((5.0, 1.0, 2.0))))
    figure = cell.figure("a", "time")
    assert (figure.median, figure.low, figure.high, figure.rounds) == (2.0, 1.0, 5.0, 3)


def test_rounds_that_did_not_end_well_do_not_count():
    cell = one_cell(a_run("a", 1.0), a_run("a", None, 1, "killed"))
    assert cell.figure("a", "time").rounds == 1
    assert cell.outcome("a") == "killed"


def test_a_process_that_repeats_gives_the_median_of_its_repetitions():
    assert figures.scalar(Metric("s", (3.0, 1.0, 9.0))) == 3.0


def test_percentiles_of_a_histogram_are_by_nearest_rank():
    metric = Metric("s", (10.0, 20.0, 30.0), (50, 49, 1))
    assert [figures.percentile(metric, part) for part in (0.5, 0.51, 0.99, 0.991, 1)] == [10, 20, 20, 30, 30]


def test_histograms_of_all_rounds_are_added_up():
    runs = [
        Run("m", "latency", "a", (("elements", 1),), number, "ok", "", {"h": Metric("s", (1.0, 2.0), (3, 4))})
        for number in range(2)
    ]
    assert one_cell(*runs).histogram("a", "h") == Metric("s", (1.0, 2.0), (6, 8))


def test_a_ratio_is_of_medians_and_its_range_of_rounds_paired():
    runs = [a_run("a", value, number) for number, value in enumerate((1.0, 2.0, 3.0))]
    runs += [a_run("b", value, number) for number, value in enumerate((2.0, 2.0, 12.0))]
    ratio = one_cell(*runs).ratio("time", "a", "b")
    assert (ratio.median, ratio.low, ratio.high) == (1.0, 0.25, 1.0)


def test_noise_is_how_far_two_runs_of_the_same_contender_lie_apart_either_way():
    (cell,) = cells = figures.cells([a_run("a", 1.0), a_run("a#2", 0.8), a_run("b", 5.0)])
    noise = figures.Noise(cells, "time")
    assert noise and noise.at(cell) == pytest.approx(0.25)
    nothing = figures.Noise(figures.cells([a_run("a", 1.0)]), "time")
    assert not nothing and nothing.at(cell) == 0


def test_a_cells_noise_is_that_of_its_own_pair_and_where_it_has_none_the_usual_one():
    runs = [a_run("a", 1.0, bytes=5)]
    for size, other in ((1, 1.0), (2, 1.1), (3, 1.1), (4, 3.0)):
        runs += [a_run("a", 1.0, bytes=size), a_run("a#2", other, bytes=size)]
    cells = sorted(figures.cells(runs), key=lambda cell: cell.parameters["bytes"])
    noise = figures.Noise(cells, "time")
    assert [noise.at(cell) for cell in cells] == pytest.approx([0.0, 0.1, 0.1, 2.0, 0.1])
    assert noise.worst == pytest.approx(2.0)


def test_cells_are_told_apart_by_every_parameter():
    runs = [a_run("a", 1.0, elements=1), a_run("a", 1.0, elements=1, warm=True), a_run("a", 1.0, elements=2)]
    assert len(figures.cells(runs)) == 3


OURS = "headroom::settled_vector"


def places(*runs):
    return standing.of(figures.cells(runs), experiments.every())


def test_best_close_and_behind_are_counted_and_losses_come_worst_first():
    ratios = {1: 0.9, 2: 1.04, 3: 1.5, 4: 3.0}
    runs = [a_run(name, time, number, bytes=size) for size, ours in ratios.items() for number in range(3) for name, time in ((OURS, ours), ("std::vector", 1.0))]
    result = places(*runs)
    assert (len(result.best), len(result.close), len(result.losses)) == (1, 1, 3)
    assert [place.ratio for place in result.losses] == [3.0, 1.5, 1.04]


def test_only_the_default_counts_and_the_best_policy_is_named_beside_it():
    result = places(
        a_run(OURS, 2.0),
        a_run(OURS + "/huge_pages", 0.5),
        a_run("std::vector", 1.0),
        a_run("boost::container::vector", 4.0),
    )
    (loss,) = result.losses
    assert (loss.other, loss.ratio, loss.tuned, loss.tuned_ratio) == ("std::vector", 2.0, OURS + "/huge_pages", 0.5)


def test_our_failure_is_the_worst_loss_and_a_peers_failure_is_no_contest_lost():
    result = places(
        a_run(OURS, None, outcome="bad_alloc", bytes=1),
        a_run("std::vector", 1.0, bytes=1),
        a_run(OURS, 9.0, bytes=2),
        a_run("std::vector", None, outcome="killed", bytes=2),
        a_run(OURS, 2.0, bytes=3),
        a_run("std::vector", 1.0, bytes=3),
    )
    assert [place.ratio for place in result.losses] == [math.inf, 2.0]
    assert result.losses[0].why == "bad_alloc"
    assert len(result.best) == 1


def test_headroom_under_a_preloaded_allocator_is_no_default_and_others_under_one_are_peers():
    result = places(
        a_run(OURS, 3.0), a_run(f"{OURS} under jemalloc", 1.0), a_run("std::vector", 4.0), a_run("std::vector under jemalloc", 2.0)
    )
    (place,) = result.places
    assert (place.ours, place.other, place.ratio) == (OURS, "std::vector under jemalloc", 1.5)


def test_an_absent_default_is_no_place_at_all():
    assert not places(a_run(OURS, None, outcome="absent"), a_run("std::vector", 1.0)).places


def test_growth_policies_are_arithmetic_and_no_contenders():
    result = places(
        a_run("headroom::geometric<2,1>", 0.0, experiment="growth", metric="bytes_moved", elements=1),
        a_run("std::vector", 1.0, experiment="growth", metric="bytes_moved", elements=1),
    )
    assert not result.places


def test_a_loss_in_fewer_than_three_rounds_is_no_loss_yet():
    (place,) = places(a_run(OURS, 9.0), a_run("std::vector", 1.0)).losses
    assert place.undecided == claims.ONE_ROUND and not place.lost


def rounds(contender, values):
    return [a_run(contender, value, number) for number, value in enumerate(values)]


def test_a_loss_within_the_noise_is_no_loss():
    result = places(*rounds(OURS, [1.05] * 3), *rounds("std::vector", [1.0] * 3), *rounds("std::vector#2", [1.08] * 3))
    (place,) = result.losses
    assert place.undecided == claims.TOO_NOISY and not place.lost and place.other == "std::vector"


def test_a_cell_is_decided_by_its_own_pair_however_far_pairs_lie_apart_elsewhere():
    def cell(size, again):
        times = {OURS: 1.2, "std::vector": 1.0, "std::vector#2": again}
        return [a_run(name, value, number, bytes=size) for name, value in times.items() for number in range(3)]

    quiet, *noisy = places(*cell(1, 1.02), *cell(2, 1.5), *cell(3, 1.5), *cell(4, 1.5)).places
    assert quiet.lost and not quiet.undecided
    assert [place.undecided for place in noisy] == [claims.TOO_NOISY] * 3


def test_rounds_that_scatter_more_than_they_differ_are_noise():
    scattered = rounds(OURS, (1.0, 1.2, 1.4)) + rounds("std::vector", (0.9, 1.1, 1.15))
    apart = rounds(OURS, (1.2, 1.3, 1.4)) + rounds("std::vector", (0.9, 1.1, 1.15))
    assert places(*scattered).losses[0].undecided == claims.TOO_NOISY
    assert places(*apart).losses[0].lost


def test_a_single_stalled_round_wins_and_loses_nothing():
    result = places(*rounds(OURS, (1.0, 1.01, 49.0)), *rounds("std::vector", (1.5, 1.51, 1.52)))
    assert not result.losses and not result.places[0].undecided


def test_what_is_below_the_clocks_resolution_counts_for_nobody():
    def median_append(ours):
        return places(
            *[
                a_run(name, value, number, experiment="latency", metric="append_p50", elements=1000)
                for name, value in ((OURS, ours), ("std::vector", 3e-9))
                for number in range(3)
            ]
        ).places

    assert median_append(2e-9) and not median_append(0.0)


def test_one_in_a_million_does_not_count_among_a_thousand():
    def latency(elements):
        return [
            a_run(name, value, experiment="latency", metric="append_p999999", elements=elements)
            for name, value in ((OURS, 2.0), ("std::vector", 1.0))
        ]

    assert not places(*latency(1_000_000)).places  # one append lies beyond
    assert len(places(*latency(10_000_000)).places) == 1


def both(first, second, metric="time", unit="s", experiment="one-growth", **parameters):
    """Three rounds of Headroom's default and of std::vector."""
    return samples.rounds(experiment, OURS, first, metric, unit, **parameters) + samples.rounds(experiment, "std::vector", second, metric, unit, **parameters)


def test_level_with_the_best_is_no_verdict_where_noise_is_larger():
    noisy = both((1.0, 1.1, 1.2), (0.9, 1.1, 1.3), bytes=1)
    quiet = both((1.002, 1.002, 1.003), (1.0, 1.0, 1.001), bytes=1)
    assert [place.undecided for place in places(*noisy).places] == [claims.TOO_NOISY]
    assert [(place.undecided, place.best) for place in places(*quiet).places] == [("", True)]


def test_bytes_that_are_not_the_same_in_every_round_know_noise_and_those_that_are_do_not():
    def peak(ours, theirs):
        (place,) = places(*both(ours, theirs, "peak_resident", "B", "memory", elements=1000)).places
        return place.undecided

    assert peak((1.00e6, 1.03e6, 1.06e6), (1.02e6, 1.02e6, 1.02e6)) == claims.TOO_NOISY
    assert peak((1.01e6,) * 3, (1e6,) * 3) == ""
    assert peak((1.01e6,), (1e6,)) == ""  # taken once, because it is the same every time


def test_one_step_of_the_clock_is_no_difference():
    def median_append(ours, theirs):
        (place,) = places(*both((ours,) * 3, (theirs,) * 3, "append_p50", "s", "latency", elements=1000)).places
        return place.undecided

    assert median_append(2.3e-9, 1.54e-9) == claims.TOO_NOISY
    assert median_append(3.1e-9, 1.54e-9) == ""


@pytest.mark.parametrize("metric", sorted(figures.QUOTIENTS))
def test_a_quotient_of_times_is_no_count(metric):
    one = one_cell(Run("m", "any", "a", (("x", 1),), 0, "ok", "", {metric: Metric("", (2.0,))}))
    figure = one.figure("a", metric)
    assert figure.timed and not figure.exact


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


def test_a_default_that_did_not_end_well_in_one_round_has_lost_however_fast_the_others_were():
    runs = both((1.0, 1.0), (2.0, 2.0, 2.0), bytes=1) + [a_run(OURS, None, 2, "killed", bytes=1)]
    (place,) = places(*runs).losses
    assert place.ratio == math.inf and place.why == "killed"


def test_where_an_allocator_is_wanted_the_default_is_compared_with_every_other_as_promises_do():
    point = {"blocks": 9, "ring": 256}
    ours, pool = "headroom::synchronized_multipool_resource AS7", "std::pmr::synchronized_pool_resource AS7"
    times = {ours: 2.0, pool: 4.0, "std::allocator AS1": 3.0, "std::allocator AS1 under mimalloc 3.4": 1.0}
    runs = [
        a_run(name, time, number, experiment="crossing", **point) for name, time in times.items() for number in range(3)
    ]
    (place,) = [place for place in places(*runs).losses if place.metric == "time"]
    assert (place.other, place.ratio) == ("std::allocator AS1 under mimalloc 3.4", 2.0)
    promise = next(claim for claim in claims.promises() if claim.id == "crossing")
    assert claims.decide(promise, figures.cells(runs)).decisive.figure.median == place.ratio


def test_under_a_strategy_each_is_compared_with_its_like():
    point = {"structure": "DS2", "size_exponent": 6, "heap": "clean", "trimming": True}
    times = {"headroom::multipool_resource AS7": 2.0, "mimalloc heap AS7": 4.0, "std::pmr::monotonic_buffer_resource AS3": 1.0}
    runs = [
        a_run(name, time, number, experiment="data-structures", **point) for name, time in times.items() for number in range(3)
    ]
    (place,) = places(*runs).places
    assert (place.other, place.ratio) == ("mimalloc heap AS7", 0.5)


def test_what_promises_and_losses_compare_the_default_with_is_the_same(monkeypatch):
    """Where a promise speaks of the best of all others, the list of losses must not know of fewer."""
    seen = []
    monkeypatch.setattr(claims.Cells, "ratio", lambda self, metric, of, to, **more: seen.append((self.experiment, to)) or claims.Findings(self))
    for claim in claims.promises():
        claims.decide(claim, [])
    seen = [(name, to) for name, to in seen if callable(to)]
    assert len(seen) > 10
    for name, to in seen:
        experiment = experiments.by_id(name)
        assert experiment.alike if to.alike else not (experiment.by_strategy and experiment.alike), name


def test_an_implementation_is_named_without_its_strategy_also_where_an_allocator_was_preloaded():
    assert strategies.implementation("std::allocator AS1 under mimalloc 3.4") == "std::allocator under mimalloc 3.4"
    assert strategies.implementation("std::allocator AS1 under jemalloc#2") == "std::allocator under jemalloc"
    assert strategies.implementation("headroom::multipool_resource over monotonic AS11#2") == "headroom::multipool_resource over monotonic"
    assert strategies.strategy("std::allocator AS1 under mimalloc 3.4") == "AS1"
    assert strategies.strategy("a name AS1 and more") == ""
