# SPDX-License-Identifier: MIT
"""The rules that decide claims: each can come out both ways, says so when it was not run, and shows the cell that it hangs on."""

import pytest
from headroom_report.page import experiments, model
from headroom_report.results import published
from headroom_report.results.figures import cells
from headroom_report.results.reading import Metric
from headroom_report.verdicts import claims

from samples import SETTLED, a_run, rounds

EVERY = claims.documents_claims() + claims.promises()
PREFAULT, POOL = SETTLED + "/prefault_ahead", "headroom::multipool_resource AS7"


def appended(sizes, of, limit):
    """A promise of appending: in at most so much of std::vector's time, in a new process."""
    return lambda cells: cells(element="int", optimisation="O2", elements=sizes, warm=False).ratio("time", of, "std::vector") <= limit


def degradation(cells):
    return cells.value("degradation", POOL).nine_of_ten() < 2


def each_pool(cells):
    return cells(heap="clean", trimming=True).ratio("time", [POOL], claims.best(alike=True)) <= 1.05


def bindings(cells):
    of, to = ["headroom::multipool_resource AS9"], [POOL]
    return cells.ratio("time", of, to, per=[["floor/multipool AS9", "floor/multipool AS7"]]).mean() <= 1.05


# Promises of the tests' own, so that none of the rules is tried with a limit that a publication may change.
OWN = {
    "append-default": ("throughput", appended([10**7, 10**8, 10**9], SETTLED, 0.33)),
    "append-prefault": ("throughput", appended([10**9], PREFAULT, 0.12)),
    "everyday-vector-known-size": (
        "everyday", lambda cells: cells(workload=["resize-fill", "reserve-push"]).ratio("time", "headroom::vector", "std::vector") <= 1.05),
    "locality-degradation": ("locality", degradation),
    "structures-pools-each": ("data-structures", each_pool),
    "structures-binding": ("data-structures", bindings),
    "memory-peak": ("memory", lambda cells: cells(elements=[10**9]).value("peak_resident", SETTLED, over="payload") <= 1.01),
}


def decide(name, *runs):
    claim = next((claim for claim in EVERY if claim.id == name), None)
    if name in OWN:
        experiment, body = OWN[name]
        claim = claims.Claim(name, claims.PROMISES, "A promise of the tests' own", body, asked="as its body says", experiment=experiment)
    return claims.decide(claim, cells([run for own in runs for run in own]))


def appending(times, ours=SETTLED, **more):
    """Three rounds of each size and contender: of Headroom's so many times std::vector's."""
    found = []
    for elements, time in times.items():
        for name, values in ((ours, time if isinstance(time, list) else [time] * 3), ("std::vector", [1.0] * 3)):
            found += rounds("throughput", name, values, element="int", elements=elements, optimisation="O2", **more)
    return found


def compared(experiment, figures, metric="time", **point):
    """One count of each contender in one cell: a count needs no rounds."""
    return [a_run(experiment, name, point, {metric: value}) for name, value in figures.items()]


def structure(figures, number=2, **more):
    return compared("data-structures", figures, **{"structure": f"DS{number}", "size_exponent": 6, "heap": "clean", "trimming": True, **more})


@pytest.mark.parametrize("claim", EVERY, ids=lambda claim: claim.id)
def test_each_claim_says_what_it_claims_and_where_from(claim):
    assert claim.sentence and claim.document
    assert claim.published or claim.asked


def test_ids_are_unique():
    assert len({claim.id for claim in EVERY}) == len(EVERY)


def test_every_experiment_has_claims_or_is_what_a_claim_is_measured_against():
    assert {claim.experiment for claim in EVERY} | {"commit-cost", "huge-pages", "operations"} >= set(experiments.names())


def test_an_experiment_run_without_the_claims_cells_is_not_run_and_says_so():
    verdict = decide("append-prefault", appending({1000: 0.5}))
    assert verdict.state == claims.NOT_RUN and "not the cells" in verdict.remarks[0]


def test_a_promise_whose_sizes_were_not_all_run_is_met_where_run():
    verdict = decide("append-default", appending({10**7: 0.3, 10**8: 0.2}))
    assert verdict.state == claims.PARTLY and verdict.missing == [("elements", 10**9)]
    verdict = decide("everyday-vector-known-size", compared("everyday", {"headroom::vector": 1.0, "std::vector": 2.0}, workload="resize-fill"))
    assert model.claims_table([(verdict,)], "", [None]).rows[0][0].small == "not run: reserve-push"


def test_a_warm_process_does_not_stand_in_for_a_fresh_one():
    assert decide("append-default", appending({10**7: 0.1, 10**8: 0.1, 10**9: 0.1}, warm=True)).state == claims.NOT_RUN


WIDE = [0.2, 0.5, 0.8]


@pytest.mark.parametrize(
    "times, state, shown",
    [
        ({10**7: 0.3, 10**8: 0.34, 10**9: 0.2}, claims.FAILS, 10**8),  # one cell that breaks a promise breaks it
        ({10**7: 0.36, 10**8: WIDE, 10**9: 0.2}, claims.FAILS, 10**7),  # and no undecided one is shown for it
        ({10**7: 0.1, 10**8: WIDE, 10**9: 0.2}, claims.TOO_NOISY, 10**8),
        ({10**7: 0.1, 10**8: 0.2, 10**9: 0.3}, claims.HOLDS, 10**9),
    ],
)
def test_the_cell_that_is_shown_is_the_one_that_decided(times, state, shown):
    verdict = decide("append-default", appending(times))
    assert (verdict.state, verdict.decisive.parameters["elements"]) == (state, shown)


def test_a_promise_that_was_broken_by_a_failure_shows_the_failure_and_a_peers_failure_decides_nothing():
    point = {"element": "int", "elements": 10**9, "optimisation": "O2"}
    one_of_four = [*appending({10**9: 0.01}, PREFAULT), a_run("throughput", PREFAULT, point, {}, "killed", 3)]
    verdict = decide("append-prefault", one_of_four)
    assert verdict.state == claims.FAILS and model.here(verdict) == f"{PREFAULT}: killed (10⁹ int, -O2)"
    alone = rounds("throughput", PREFAULT, [0.05] * 3, **point) + rounds("throughput", "std::vector", [0] * 3, outcome="bad_alloc", **point)
    verdict = decide("append-prefault", alone)
    assert verdict.state == claims.NOT_RUN and "std::vector: bad_alloc" in verdict.remarks[0]


@pytest.mark.parametrize(
    "times, state",
    [
        ([0.01], claims.ONE_ROUND),
        ([5.0, 5.0], claims.ONE_ROUND),
        ([0.01] * 3, claims.HOLDS),
        ([5.0] * 3, claims.FAILS),
        ([0.11, 0.118, 0.13], claims.TOO_NOISY),
        ([0.11, 0.125, 0.13], claims.TOO_NOISY),
        ([0.080, 0.081, 49.0], claims.HOLDS),  # one stalled round moves no verdict
        ([0.01, 0.5, 0.6], claims.FAILS),  # nor one that was quick by accident
    ],
)
def test_what_may_be_an_accident_decides_nothing_on_either_side_of_the_limit(times, state):
    assert decide("append-prefault", appending({10**9: times}, PREFAULT)).state == state  # at most 0.12


def test_a_promise_at_a_quiet_cell_is_decided_whatever_the_others_noise():
    def cell(size, again):
        return appending({size: 0.11}, PREFAULT) + rounds("throughput", "std::vector#2", [again] * 3, element="int", elements=size, optimisation="O2")

    others = [run for size in (10**6, 10**7, 10**8) for run in cell(size, 1.5)]
    assert decide("append-prefault", cell(10**9, 1.01), others).state == claims.HOLDS
    assert decide("append-prefault", cell(10**9, 1.5), others).state == claims.TOO_NOISY


def test_what_is_said_of_most_cells_holds_with_more_than_half_of_them_and_the_middle_one_is_shown():
    def verdict(*ratios):
        return decide("structures-multipool", *(structure({POOL: ratio, "std::allocator AS1": 1.0}, number) for number, ratio in enumerate(ratios, 1)))

    assert verdict(0.1, 0.2, 0.9).state == claims.HOLDS
    assert verdict(0.1, 0.9).state == claims.FAILS
    assert verdict(0.9, 0.2, 0.1).decisive.figure.median == 0.2


def test_a_cell_in_another_state_of_the_heap_can_be_what_is_divided_by_and_both_are_as_noisy_as_the_noisier():
    def heap(kind, *times):
        return rounds("data-structures", "std::allocator AS1", times, structure="DS3", size_exponent=10, trimming=True, heap=kind)

    scrambled = heap("scrambled", 2.2, 2.2, 2.2)  # at least twice
    verdict = decide("structures-heap", heap("clean", 1.0, 1.0, 1.0), scrambled)
    assert verdict.state == claims.HOLDS and verdict.decisive.figure.median == 2.2
    assert decide("structures-heap", heap("clean", 0.8, 1.0, 1.2), scrambled).state == claims.TOO_NOISY
    assert decide("structures-heap", scrambled).state == claims.NOT_RUN


def pools(*times):
    """Headroom's multipool and its peers, cell by cell."""
    names = (POOL, "std::pmr::unsynchronized_pool_resource AS7", "mimalloc heap AS7")
    return [run for number, own in enumerate(times) for run in structure(dict(zip(names, own)), size_exponent=6 + number)]


def test_a_geometric_mean_is_taken_over_cells_and_contenders_and_shows_the_largest():
    verdict = decide("structures-pools", pools((0.5, 1.0), (1.2, 1.0)))
    assert verdict.decisive.figure.median == pytest.approx(0.6**0.5)
    assert "2 cells" in verdict.decisive.why and "1.20" in verdict.decisive.why
    assert decide("structures-pools-each", pools((0.5, 1.0), (1.2, 1.0))).state == claims.FAILS


def test_the_best_of_a_strategy_is_taken_cell_by_cell():
    verdict = decide("structures-pools-each", pools((1.0, 1.0, 2.0), (1.0, 2.0, 1.0)))
    assert verdict.state == claims.HOLDS
    assert [finding.figure.median for finding in verdict.findings] == [1.0, 1.0]
    assert "mimalloc heap" in verdict.findings[1].why


def test_a_ratio_of_ratios_compares_two_bindings():
    times = {"headroom::multipool_resource AS9": 6.0, POOL: 4.0, "floor/multipool AS9": 3.0, "floor/multipool AS7": 2.5}
    assert decide("structures-binding", structure(times)).decisive.figure.median == pytest.approx(1.5 / 1.2)


def test_a_quotient_of_times_is_told_as_one_and_a_count_is_not():
    assert model.here(decide("lives-ageing", rounds("lives", POOL, [1.05] * 3, "ageing", "", elements=9))) == "1.05× (9 elements)"
    counted = compared("pair-instructions", {POOL: 15.0}, "instructions", known_size=True)
    assert model.here(decide("pair-instructions-constant", counted)) == "15.0 (the size known to the compiler)"


@pytest.mark.parametrize("missed, state, shown", [(1, claims.HOLDS, 1.5), (2, claims.FAILS, 3.0)])
def test_nine_of_ten_cells_allow_one_that_misses(missed, state, shown):
    values = [3.0] * missed + [1.5] * (10 - missed)
    verdict = decide("locality-degradation", *(rounds("locality", POOL, [value] * 3, "degradation", "", links=2**n) for n, value in enumerate(values)))
    assert (verdict.state, verdict.decisive.figure.median) == (state, shown)


def test_running_out_of_memory_is_what_some_claims_say():
    point = {"T_exponent": 32, "A_exponent": 20, "S_exponent": 10}
    failed = a_run("utilization", "headroom::monotonic_resource AS3", point, {}, "bad_alloc")
    assert decide("utilization-monotonic", [failed], compared("utilization", {"std::allocator AS1": 1.0}, **point)).state == claims.HOLDS


def test_the_best_of_the_others_is_neither_headroom_nor_a_bound_of_the_labs():
    figures = {"headroom::vector": 2.0, SETTLED: 0.1, "floor/vector": 0.1, "std::vector#2": 0.5, "std::vector": 4.0, "boost::container::vector": 8.0}
    assert decide("simulation-int", compared("simulation", figures, "push_back", element="int", iterations=9)).decisive.figure.median == 0.5


def test_the_best_of_one_contender_is_of_that_one_under_whatever_allocator_and_is_named():
    figures = {"headroom::vector": 1.0, "amc::vector": 0.5, "amc::vector under jemalloc": 0.6, "std::vector": 4.0, "std::vector under jemalloc": 2.0}
    verdict = decide("everyday-push-int-million-vector", compared("everyday", figures, element="int", elements=10**6, workload="push"))
    assert (verdict.state, verdict.decisive.figure.median) == (claims.HOLDS, 0.5)
    assert verdict.decisive.why == "against std::vector under jemalloc"


@pytest.mark.parametrize("slow, state", [(2e-6, claims.HOLDS), (1e-8, claims.FAILS)])
def test_the_slow_appends_are_compared_with_the_calls_that_make_them(slow, state):
    """One append in 1024 is slow: as slow as committing and touching a page, or hardly slower than the others."""
    append = a_run("latency", SETTLED + "/page_by_page", {"element": "int", "elements": 10**6, "optimisation": "O2"}, {})
    append.metrics["append_histogram"] = Metric("", (slow / 1e6, slow), (1000.0 * 1023, 1000.0))
    assert decide("commit-explains-append", [append], compared("commit-cost", {"commit": 1e-6, "first_touch": 1e-6}, "call_p50", pages=1)).state == state


@pytest.mark.parametrize("name, contender, implementation", [("growth-doubles", "std::vector", "libstdc++ (GCC 4.6.1)"),
                                                             ("growth-half-more", "headroom::geometric<3,2>", "MSVC (Visual Studio 2010)")])
def test_a_sequence_is_as_printed_or_is_not(name, contender, implementation):
    there = published.tables()["vector_reallocation_sequences"].column("elements", {"implementation": implementation})
    for here, state in ((there, claims.HOLDS), (there[:-1], claims.FAILS), ([], claims.FAILS)):
        assert decide(name, compared("growth", {contender: here}, "grows_at", elements=10**6)).state == state


@pytest.mark.parametrize("first, second, state", [("ok", "bad_alloc", claims.HOLDS), ("killed", "killed", claims.FAILS), ("ok", "ok", claims.NOT_RUN),
                                                  ("not_run", "bad_alloc", claims.NOT_RUN)])
def test_who_works_where_another_fails(first, second, state):
    endings = {SETTLED + "/page_by_page": first, "std::vector": second}
    runs = [a_run("memory", name, {"elements": 10**10}, {}, outcome) for name, outcome in endings.items()]
    assert decide("memory-reaches-further", runs).state == state


@pytest.mark.parametrize("name, contender, peak, less, state", [("memory-peak", SETTLED, 1.005, 0.0, claims.HOLDS), ("memory-peak", SETTLED, 1.02, 0.0, claims.FAILS),
                                                                ("memory-three-times", "std::vector", 2.7, 3.0, claims.HOLDS),
                                                                ("memory-three-times", "std::vector", 1.5, 3.0, claims.FAILS)])
def test_a_figure_may_be_divided_by_another_of_its_own(name, contender, peak, less, state):
    metrics = {"peak_resident": peak * 7 + less, "payload": 7.0, "baseline": 3.0}
    assert decide(name, [a_run("memory", contender, {"element": "int", "elements": 10**9}, metrics)]).state == state
