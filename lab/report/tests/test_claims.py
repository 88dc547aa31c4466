"""The rules that decide claims: each can come out both ways, and says so when it was not run."""

from dataclasses import replace

import pytest
from headroom_report.page import experiments
from headroom_report.results import published
from headroom_report.verdicts import claims
from headroom_report.results.figures import cells
from headroom_report.results.reading import Metric, Run

import samples

EVERY = claims.documents_claims() + claims.promises()


def a_run(experiment, contender, parameters, metrics, outcome="ok", number=0):
    made = {name: Metric("", tuple(value) if isinstance(value, (list, tuple)) else (value,)) for name, value in metrics.items()}
    return Run("m", experiment, contender, tuple(sorted(parameters.items())), number, outcome, "", made)


def a_run_with_tail(parameters, slow):
    """A thousand samples in 1024 are fast, the slow part all the same: so every quantile of it is."""
    run = a_run("latency", "headroom::settled_vector/page_by_page", parameters, {})
    run.metrics["append_histogram"] = Metric("", (slow / 1e6, slow), (1000.0 * 1023, 1000.0))
    return run


def thrice(runs):
    """The same in three rounds: fewer decide nothing where times are compared."""
    return [replace(run, round=number) for run in runs for number in range(3)]


@pytest.mark.parametrize("claim", EVERY, ids=lambda claim: claim.id)
def test_each_claim_says_what_it_claims_and_where_from(claim):
    assert claim.sentence and claim.document
    assert claim.published or claim.asked


def test_ids_are_unique():
    assert len({claim.id for claim in EVERY}) == len(EVERY)


def test_every_experiment_has_claims_or_is_what_a_claim_is_measured_against():
    assert {claim.experiment for claim in EVERY} | {"commit-cost"} >= set(experiments.names())


def test_an_experiment_run_without_the_claims_cells_is_not_run_and_says_so():
    runs = throughput({1000: 0.5})
    verdict = claims.decide(by_id("append-prefault"), cells(runs))
    assert verdict.state == claims.NOT_RUN and "not the cells" in verdict.remarks[0]


def by_id(name):
    return next(claim for claim in EVERY if claim.id == name)


def throughput(ratios, contender="headroom::settled_vector"):
    runs = []
    for size, ratio in ratios.items():
        parameters = {"element": "int", "elements": size, "optimisation": "O2"}
        runs += [
            a_run("throughput", contender, parameters, {"time": ratio}),
            a_run("throughput", "std::vector", parameters, {"time": 1.0}),
        ]
    return runs


def test_a_promise_whose_sizes_were_not_all_run_is_met_where_run():
    verdict = claims.decide(by_id("append-default"), cells(throughput({10**7: 0.3, 10**8: 0.2})))
    assert verdict.state == claims.PARTLY
    assert verdict.missing == ["elements 1000000000"]


def test_one_cell_that_breaks_a_promise_breaks_it_and_is_the_one_shown():
    verdict = claims.decide(by_id("append-default"), cells(throughput({10**7: 0.3, 10**8: 0.34, 10**9: 0.2})))
    assert verdict.state == claims.FAILS
    assert verdict.decisive.parameters["elements"] == 10**8


def test_a_warm_process_does_not_stand_in_for_a_fresh_one():
    runs = [replace(run, parameters=(*run.parameters, ("warm", True))) for run in throughput({10**7: 0.1, 10**8: 0.1, 10**9: 0.1})]
    assert claims.decide(by_id("append-default"), cells(runs)).state == claims.NOT_RUN


def test_a_promise_is_broken_by_our_own_failure_but_a_peers_failure_decides_nothing():
    parameters = {"element": "int", "elements": 10**9, "optimisation": "O2"}
    ours, theirs = "headroom::settled_vector/prefault_ahead", "std::vector"
    fine = {"time": 0.05}
    broken = [
        a_run("throughput", ours, parameters, {}, "killed"),
        a_run("throughput", theirs, parameters, {"time": 1.0}),
    ]
    assert claims.decide(by_id("append-prefault"), cells(broken)).state == claims.FAILS
    alone = [a_run("throughput", ours, parameters, fine), a_run("throughput", theirs, parameters, {}, "bad_alloc")]
    verdict = claims.decide(by_id("append-prefault"), cells(alone))
    assert verdict.state == claims.NOT_RUN
    assert "std::vector: bad_alloc" in verdict.remarks[0]


def test_medians_over_rounds_decide_and_not_single_rounds():
    parameters = {"element": "int", "elements": 10**9, "optimisation": "O2"}
    runs = []
    for number, time in enumerate((0.01, 0.5, 0.6)):
        runs += [
            a_run("throughput", "headroom::settled_vector/prefault_ahead", parameters, {"time": time}, number=number),
            a_run("throughput", "std::vector", parameters, {"time": 1.0}, number=number),
        ]
    verdict = claims.decide(by_id("append-prefault"), cells(runs))
    assert verdict.state == claims.FAILS and verdict.decisive.figure.median == 0.5


def seconds(contender, times, elements=10**9):
    """A run for each time, in as many rounds; of a configuration that a promise speaks of."""
    return samples.rounds("throughput", contender, times, element="int", elements=elements, optimisation="O2")


def prefault(times, others=(1.0, 1.0, 1.0)):
    runs = seconds("headroom::settled_vector/prefault_ahead", times) + seconds("std::vector", others)
    return claims.decide(by_id("append-prefault"), cells(runs))  # at most 0.12


def test_fewer_than_three_rounds_decide_nothing_whichever_way_they_point():
    for time in (0.01, 5.0):
        assert prefault([time]).state == claims.ONE_ROUND
        assert prefault([time, time]).state == claims.ONE_ROUND
    assert prefault([0.01] * 3).state == claims.HOLDS and prefault([5.0] * 3).state == claims.FAILS


def test_what_lies_no_farther_from_the_limit_than_rounds_lie_apart_is_too_noisy_to_say():
    assert prefault([0.11, 0.118, 0.13]).state == claims.TOO_NOISY
    assert prefault([0.11, 0.125, 0.13]).state == claims.TOO_NOISY
    assert prefault([0.08, 0.081, 0.082]).state == claims.HOLDS


def test_one_stalled_round_moves_no_verdict():
    verdict = prefault([0.080, 0.081, 49.0])
    assert verdict.state == claims.HOLDS
    assert prefault([0.2, 0.21, 0.22], [1.0, 1.01, 90.0]).state == claims.FAILS


def test_a_count_needs_no_rounds_and_knows_no_noise():
    for share, state in ((1, claims.HOLDS), (1.001, claims.FAILS)):
        verdict = claims.decide(by_id("unused"), cells([a_run("growth", "headroom::settled_vector", {"elements": 9}, {"unused_share": share})]))
        assert verdict.state == state and not verdict.remarks


def test_a_verdict_closer_than_equal_things_lie_apart_says_so():
    assert prefault([0.118, 0.118, 0.118]).state == claims.HOLDS
    runs = seconds("headroom::settled_vector/prefault_ahead", [0.118] * 3) + seconds("std::vector", [1.0] * 3)
    runs += seconds("std::vector#2", [1.1] * 3)
    assert claims.decide(by_id("append-prefault"), cells(runs)).state == claims.TOO_NOISY


def test_a_promise_at_a_quiet_cell_is_decided_whatever_the_others_noise():
    def cell(size, again):
        times = {"headroom::settled_vector/prefault_ahead": 0.11, "std::vector": 1.0, "std::vector#2": again}
        return [run for name, time in times.items() for run in seconds(name, [time] * 3, size)]

    others = [run for size in (10**6, 10**7, 10**8) for run in cell(size, 1.5)]
    assert claims.decide(by_id("append-prefault"), cells(cell(10**9, 1.01) + others)).state == claims.HOLDS
    assert claims.decide(by_id("append-prefault"), cells(cell(10**9, 1.5) + others)).state == claims.TOO_NOISY


def structures(ratios, contender="headroom::multipool_resource AS7", by="std::allocator AS1"):
    runs = []
    for number, ratio in enumerate(ratios, start=1):
        parameters = {"structure": f"DS{number}", "size_exponent": 6, "heap": "clean", "trimming": True}
        runs += [
            a_run("data-structures", contender, parameters, {"time": ratio}),
            a_run("data-structures", by, parameters, {"time": 1.0}),
        ]
    return runs


def test_what_is_said_of_most_cells_holds_with_more_than_half_of_them_and_the_middle_one_is_shown():
    claim = by_id("structures-multipool")
    assert claims.decide(claim, cells(structures([0.1, 0.2, 0.9]))).state == claims.HOLDS
    assert claims.decide(claim, cells(structures([0.1, 0.9]))).state == claims.FAILS
    assert claims.decide(claim, cells(structures([0.9, 0.2, 0.1]))).decisive.figure.median == 0.2


def test_a_cell_in_another_state_of_the_heap_can_be_what_is_divided_by():
    claim = by_id("structures-heap")
    name, point = "std::allocator AS1", {"structure": "DS3", "size_exponent": 10, "trimming": True}
    clean = a_run("data-structures", name, {**point, "heap": "clean"}, {"time": 1.0})
    scrambled = a_run("data-structures", name, {**point, "heap": "scrambled"}, {"time": 5.0})
    assert claims.decide(claim, cells([clean, scrambled])).decisive.figure.median == 5.0
    assert claims.decide(claim, cells([scrambled])).state == claims.NOT_RUN


def pools(times, metric="time"):
    """One run of data-structures: Headroom's multipool and its peers, cell by cell."""
    runs = []
    for number, (ours, *others) in enumerate(times):
        point = {"structure": "DS2", "size_exponent": 6 + number, "heap": "clean", "trimming": True}
        names = ("headroom::multipool_resource AS7", "std::pmr::unsynchronized_pool_resource AS7", "mimalloc heap AS7")
        runs += [a_run("data-structures", name, point, {metric: time}) for name, time in zip(names, (ours, *others))]
    return runs


def test_a_geometric_mean_is_taken_over_cells_and_contenders_and_shows_the_largest():
    claim = by_id("structures-pools")
    verdict = claims.decide(claim, cells(pools([(0.5, 1.0), (1.2, 1.0)])))
    assert verdict.decisive.figure.median == pytest.approx(0.6**0.5)
    assert "2 cells" in verdict.decisive.why and "1.20" in verdict.decisive.why
    assert claims.decide(by_id("structures-pools-each"), cells(pools([(0.5, 1.0), (1.2, 1.0)]))).state == claims.FAILS


def test_the_best_of_a_strategy_is_taken_cell_by_cell():
    verdict = claims.decide(by_id("structures-pools-each"), cells(pools([(1.0, 1.0, 2.0), (1.0, 2.0, 1.0)])))
    assert verdict.state == claims.PARTLY
    assert [finding.figure.median for finding in verdict.findings] == [1.0, 1.0]
    assert "mimalloc heap" in verdict.findings[1].why


def test_a_ratio_of_ratios_compares_two_bindings():
    claim = by_id("structures-binding")
    point = {"structure": "DS2", "size_exponent": 6, "heap": "clean", "trimming": True}
    times = {
        "headroom::multipool_resource AS9": 6.0,
        "headroom::multipool_resource AS7": 4.0,
        "floor/multipool AS9": 3.0,
        "floor/multipool AS7": 2.5,
    }
    runs = [a_run("data-structures", name, point, {"time": time}) for name, time in times.items()]
    assert claims.decide(claim, cells(runs)).decisive.figure.median == pytest.approx(1.5 / 1.2)


def test_nine_of_ten_cells_allow_one_that_misses():
    claim = by_id("locality-degradation")

    def verdict(missed):
        values = [3.0] * missed + [1.5] * (10 - missed)
        runs = [
            a_run("locality", "headroom::multipool_resource AS7", {"links": 2**number}, {"degradation": value})
            for number, value in enumerate(values)
        ]
        return claims.decide(claim, cells(thrice(runs)))

    assert verdict(1).state == claims.HOLDS and verdict(1).decisive.figure.median == 1.5
    assert verdict(2).state == claims.FAILS and verdict(2).decisive.figure.median == 3.0


def test_running_out_of_memory_is_what_some_claims_say():
    claim = by_id("utilization-monotonic")
    point = {"T_exponent": 32, "A_exponent": 20, "S_exponent": 10}
    runs = [
        a_run("utilization", "headroom::monotonic_resource AS3", point, {}, "bad_alloc"),
        a_run("utilization", "std::allocator AS1", point, {"time": 1.0}),
    ]
    assert claims.decide(claim, cells(runs)).state == claims.HOLDS


def test_the_best_of_the_others_is_neither_headroom_nor_a_bound_of_the_labs():
    claim = by_id("simulation-int")
    point = {"element": "int", "iterations": 9}
    runs = [
        a_run("simulation", name, point, {"push_back": time})
        for name, time in (
            ("headroom::vector", 2.0),
            ("headroom::settled_vector", 0.1),
            ("floor/vector", 0.1),
            ("std::vector#2", 0.5),
            ("std::vector", 4.0),
            ("boost::container::vector", 8.0),
        )
    ]
    assert claims.decide(claim, cells(runs)).decisive.figure.median == 0.5


def test_the_slow_appends_are_compared_with_the_calls_that_make_them():
    claim = by_id("commit-explains-append")
    point = {"element": "int", "elements": 10**6, "optimisation": "O2"}
    calls = [a_run("commit-cost", name, {"pages": 1}, {"call_p50": 1e-6}) for name in ("commit", "first_touch")]
    # One append in 1024 takes 2 µs, the others a nanosecond; then all the same, so that nothing stands out.
    slow = [a_run_with_tail(point, 2e-6)]
    assert claims.decide(claim, cells(slow + calls)).state == claims.HOLDS
    quick = [a_run_with_tail(point, 1e-8)]
    assert claims.decide(claim, cells(quick + calls)).state == claims.FAILS


def test_the_published_ratio_is_taken_from_the_published_table():
    assert by_id("throughput-ints").published == f"{3.295792 / 2.972950:.3g}× the time (Linux, 10⁹ ints)"
    assert by_id("growth-half-more-often").published.startswith("1.67")


@pytest.mark.parametrize("name, contender, implementation", [("growth-doubles", "std::vector", "libstdc++ (GCC 4.6.1)"),
                                                             ("growth-half-more", "headroom::geometric<3,2>", "MSVC (Visual Studio 2010)")])
def test_a_sequence_is_as_printed_or_is_not(name, contender, implementation):
    there = published.tables()["vector_reallocation_sequences"].column("elements", {"implementation": implementation})
    for here, state in ((there, claims.HOLDS), (there[:-1], claims.FAILS), ([], claims.FAILS)):
        runs = [a_run("growth", contender, {"elements": 10**6}, {"grows_at": here})]
        assert claims.decide(by_id(name), cells(runs)).state == state


def test_who_works_where_another_fails():
    def state(first, second):
        runs = [a_run("memory", "headroom::settled_vector/page_by_page", {"elements": 10**10}, {}, first)]
        return claims.decide(by_id("memory-reaches-further"), cells(runs + [a_run("memory", "std::vector", {"elements": 10**10}, {}, second)])).state

    assert [state("ok", "bad_alloc"), state("killed", "killed")] == [claims.HOLDS, claims.FAILS]
    assert state("ok", "ok") == state("not_run", "bad_alloc") == claims.NOT_RUN


def test_a_figure_may_be_divided_by_another_of_its_own():
    for name, contender, peak, state in (("memory-peak", "headroom::settled_vector", 1.005, claims.HOLDS), ("memory-peak", "headroom::settled_vector", 1.02, claims.FAILS),
                                         ("memory-three-times", "std::vector", 2.7, claims.HOLDS), ("memory-three-times", "std::vector", 1.5, claims.FAILS)):
        less = 3.0 if name == "memory-three-times" else 0.0
        metrics = {"peak_resident": peak * 7 + less, "payload": 7.0, "baseline": 3.0}
        runs = [a_run("memory", contender, {"element": "int", "elements": 10**9}, metrics)]
        assert claims.decide(by_id(name), cells(runs)).state == state
