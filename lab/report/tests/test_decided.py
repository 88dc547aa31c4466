"""What a verdict hangs on: rounds and noise of every figure in it, failures of single rounds, and the cell that is shown beside it."""

from headroom_report.page import model
from headroom_report.results.figures import cells
from headroom_report.verdicts import claims

import samples
from test_claims import a_run, by_id, seconds


def test_what_is_shown_beside_a_miss_is_a_cell_that_missed_and_not_one_that_is_undecided():
    runs = seconds("headroom::settled_vector", [0.36, 0.36, 0.36], 10**7) + seconds("std::vector", [1.0, 1.0, 1.0], 10**7)
    runs += seconds("headroom::settled_vector", [0.2, 0.5, 0.8], 10**8) + seconds("std::vector", [1.0, 1.0, 1.0], 10**8)
    verdict = claims.decide(by_id("append-default"), cells(runs))
    assert verdict.state == claims.FAILS and verdict.decisive.parameters["elements"] == 10**7
    noisy = [run for run in runs if dict(run.parameters)["elements"] == 10**8]
    fine = seconds("headroom::settled_vector", [0.1] * 3, 10**7) + seconds("std::vector", [1.0] * 3, 10**7)
    verdict = claims.decide(by_id("append-default"), cells(noisy + fine))
    assert verdict.state == claims.TOO_NOISY and verdict.decisive.parameters["elements"] == 10**8


def test_a_promise_that_was_broken_by_a_failure_shows_the_failure():
    point = {"element": "int", "elements": 10**9, "optimisation": "O2"}
    runs = seconds("headroom::settled_vector", [0.1] * 3, 10**7) + seconds("std::vector", [1.0] * 3, 10**7)
    runs += [*seconds("std::vector", [1.0] * 3), a_run("throughput", "headroom::settled_vector", point, {}, "killed")]
    verdict = claims.decide(by_id("append-default"), cells(runs))
    assert verdict.state == claims.FAILS
    assert model.here(verdict) == "headroom::settled_vector: killed (10⁹ int, -O2)"


def test_one_round_of_ours_that_did_not_end_well_breaks_a_promise():
    point = {"element": "int", "elements": 10**9, "optimisation": "O2"}
    ours = "headroom::settled_vector/prefault_ahead"
    runs = seconds(ours, [0.01] * 3) + seconds("std::vector", [1.0] * 4)
    assert claims.decide(by_id("append-prefault"), cells(runs)).state == claims.HOLDS
    runs.append(a_run("throughput", ours, point, {}, "killed", 3))
    assert claims.decide(by_id("append-prefault"), cells(runs)).state == claims.FAILS


def test_the_best_of_the_others_is_named():
    point = {"workload": "push", "element": "int", "elements": 10**7}
    runs = [
        a_run("everyday", name, point, {"time": time})
        for name, time in (("headroom::vector", 1.0), ("std::vector", 4.0), ("std::vector under jemalloc", 2.0))
    ]
    assert claims.decide(by_id("everyday-vector-push-int"), cells(runs)).decisive.why == "against std::vector under jemalloc"


def test_figures_of_two_cells_are_as_noisy_as_the_noisier():
    claim = by_id("structures-heap")  # at least twice
    name, point = "std::allocator AS1", {"structure": "DS3", "size_exponent": 10, "trimming": True}

    def heap(kind, times):
        return samples.rounds("data-structures", name, times, **point, heap=kind)

    assert claims.decide(claim, cells(heap("clean", [1.0] * 3) + heap("scrambled", [2.2] * 3))).state == claims.HOLDS
    wide = heap("clean", [0.8, 1.0, 1.2]) + heap("scrambled", [2.2] * 3)
    assert claims.decide(claim, cells(wide)).state == claims.TOO_NOISY
