# SPDX-License-Identifier: MIT
"""The first screen's three answers: whose they are, of which cells, and how sure."""

import math
import re

import pytest
from headroom_report.page import experiments, panels as words_of
from headroom_report.results.figures import cells
from headroom_report.verdicts import answers, claims, standing

from samples import rounds

OURS, OTHER, YARDSTICK = "headroom::settled_vector", "headroom::vector", "std::vector"


def appending(contender, values, elements=10**9, **more):
    return rounds("push-back", contender, values, element="int", elements=elements, **more)


def stalling(contender, values, elements=10**9):
    return rounds("latency", contender, values, "append_max", element="int", optimisation="O2", elements=elements)


def panel(name, runs):
    found = cells(runs)
    panels = answers.panels(found, experiments.every(), standing.of(found, experiments.every()))
    return next(one for one in panels if one.id == name)


def test_an_answers_noise_is_that_of_rounds_or_of_the_same_thing_run_twice_whichever_is_larger():
    runs = appending(OURS, [0.9] * 3) + appending(YARDSTICK, [1.0] * 3)
    (line,) = panel("growing", runs).lines
    assert line.noise == 0 and not line.undecided
    (line,) = panel("growing", runs + appending(YARDSTICK + "#2", [1.2] * 3)).lines
    assert line.noise == pytest.approx(0.2) and line.undecided == claims.TOO_NOISY
    assert words_of.noise(line) == "±20%, too noisy to say"


def test_the_largest_size_is_the_largest_that_can_be_compared():
    runs = appending(OURS, [0.5] * 3) + appending(YARDSTICK, [1.0] * 3) + appending(OURS, [5.0] * 3, 10**10)
    runs += appending(YARDSTICK, [0.0] * 3, 10**10, outcome="bad_alloc")
    (line,) = panel("growing", runs).lines
    assert line.parameters["elements"] == 10**9


def test_a_longest_append_within_the_noise_says_so_and_one_of_another_type_names_it():
    runs = appending(OURS, [0.5] * 3) + appending(YARDSTICK, [1.0] * 3) + stalling(YARDSTICK, [1.0] * 3)
    assert "its longest single append is 2.0 times shorter (10⁹ int)." in words_of.sentence(panel("growing", runs + stalling(OURS, [0.5] * 3)))
    assert "(10⁹ int, within the noise)" in words_of.sentence(panel("growing", runs + stalling(OURS, [0.5, 0.9, 1.4])))
    other = words_of.sentence(panel("growing", runs + stalling(OTHER, [0.5] * 3)))
    assert "headroom::vector's longest single append is 2.0 times shorter" in other


def structures(contender, values):
    return [
        run
        for number, value in enumerate(values)
        if value
        for run in rounds(
            "data-structures", contender, [value] * 3, structure=f"DS{number + 1}", contents="vector<int>", size_exponent=6,
            heap="clean", trimming=True,
        )
    ]


def test_a_mean_over_cells_is_of_one_type_and_the_best_of_the_others_is_named_as_what_it_is():
    runs = structures("std::allocator AS1", [1.0, 1.0]) + structures("headroom::multipool_resource AS7", [0.5, 0.5])
    runs += structures("headroom::synchronized_multipool_resource AS7", [0.4, 0.9])
    runs += structures("mimalloc heap AS7", [0.6, 0.9]) + structures("std::pmr::unsynchronized_pool_resource AS7", [0.9, 0.6])
    found = panel("many", runs)
    (line,) = found.lines
    assert (line.ours, line.ratio.median) == ("headroom::multipool_resource AS7", pytest.approx(0.5))
    assert line.other_ratio == pytest.approx(0.6) and line.others_differ
    assert any("best of the others: mostly " in name for _, name in words_of.legend(found))


def test_a_mean_of_the_others_over_fewer_cells_does_not_stand_beside_ours():
    runs = structures("std::allocator AS1", [1.0, 1.0]) + structures("headroom::multipool_resource AS7", [0.5, 0.5])
    (line,) = panel("many", runs + structures("mimalloc heap AS7", [0.1, None])).lines
    assert line.cells == 2 and line.other_ratio is None


def test_growing_is_answered_from_the_sizes_of_push_back_then_the_first_small_array_then_the_longest_append():
    runs = [run for size in (1, 10**8) for who in (OURS, YARDSTICK) for run in appending(who, [0.5] * 3, size)] + stalling(OURS, [0.5] * 3)
    runs += stalling(YARDSTICK, [1.0] * 3)
    for size in (10**3, 10**9):
        for who, value in ((OURS, 2.0), (YARDSTICK, 1.0)):
            runs += rounds("throughput", who, [value] * 3, element="int", optimisation="O2", elements=size)
    lines = panel("growing", runs).lines
    assert [line.parameters["elements"] for line in lines] == [10**8, 1, 10**3, 10**9]
    assert [line.answer.metric for line in lines] == ["time", "time", "time", "append_max"]
    assert words_of.picture(panel("growing", runs), (0.01, 100)).count('class="what"') == len(lines)


def test_bars_of_one_length_mean_the_same_in_every_panel_and_none_is_cut():
    runs = appending(OURS, [0.001] * 3) + appending(YARDSTICK, [1.0] * 3)
    runs += structures("std::allocator AS1", [1.0]) + structures("headroom::multipool_resource AS7", [30.0])
    both = [panel("growing", runs), panel("many", runs)]
    ends = words_of.scale(both)
    assert ends[0] < 0.001 and ends[1] > 30
    widths = [float(re.search('<rect [^>]*width="([\\d.]+)"', words_of.picture(one, ends))[1]) for one in both]
    assert widths[0] / widths[1] == pytest.approx(math.log(1000) / math.log(30), rel=0.01)


def test_the_worst_loss_of_the_panels_is_the_worst_of_all():
    runs = appending(OURS, [3.0] * 3) + appending(YARDSTICK, [1.0] * 3)
    runs += rounds("concurrent-append", "headroom::concurrent_vector", [9.0] * 3, threads=2) + rounds("concurrent-append", "std::vector, mutex", [1.0] * 3, threads=2)
    runs += rounds("memory", OURS, [2.0] * 3, "peak_resident", "B", elements=10**6) + rounds("memory", YARDSTICK, [1.0] * 3, "peak_resident", "B", elements=10**6)
    found = cells(runs)
    stands = standing.of(found, experiments.every())
    lost = [place for one in answers.panels(found, experiments.every(), stands) for place in one.lost]
    assert len(lost) == len(stands.losses) == 3 and max(place.ratio for place in lost) == stands.losses[0].ratio
