# SPDX-License-Identifier: MIT
"""Two result sets side by side."""

import pytest
from headroom_report.page import compare, model
from headroom_report.results import reading as results
from headroom_report.__main__ import main

import samples

OURS = samples.SETTLED


def times(figures, cpu="Made-up processor", experiment="one-growth", metric="time", **point):
    """figures: contender -> the rounds' times, all in one cell."""
    return [{**samples.MACHINE, "cpu": cpu}] + [
        samples.run(experiment, name, point or {"element": "int", "bytes": 65536}, {metric: time}, number)
        for name, rounds in figures.items()
        for number, time in enumerate(rounds)
    ]


def compared(tmp_path, first, second):
    return compare.compare(
        model.build(results.read([samples.write(tmp_path / "a.jsonl", first)])),
        model.build(results.read([samples.write(tmp_path / "b.jsonl", second)])),
    )


def test_a_set_compared_with_itself_has_not_changed_and_with_a_part_of_itself_lacks_the_rest(tmp_path):
    some = samples.published("memory", "latency", "instructions")
    found = compared(tmp_path, some, some)
    assert len(found.changes) > 100 and not found.better and not found.worse and not found.verdicts
    assert found.missing == [[], []]
    found = compared(tmp_path, some, samples.published("memory", "latency"))
    assert [(before.claim.id, after.state) for before, after in found.verdicts] == [("instructions", "not run")]
    assert [cell.experiment for cell in found.missing[1]] == ["instructions"]


@pytest.mark.parametrize(
    "first, second, changed",
    [
        ({OURS: [0.5, 0.5, 0.51]}, {OURS: [0.7, 0.7, 0.71]}, {OURS: 1.4}),
        ({OURS + "/open": [0.8, 0.8, 0.81]}, {OURS + "/open": [0.4, 0.4, 0.41]}, {OURS + "/open": 0.5}),
        ({OURS: [0.5, 0.6, 0.7]}, {OURS: [0.65, 0.75, 0.9]}, {}),  # rounds scatter as far
        ({OURS: [0.5] * 3, "std::vector#2": [1.2] * 3}, {OURS: [0.55] * 3}, {}),  # equal things lie farther apart
        ({OURS: [0.5] * 3}, {OURS: [0.55] * 3}, {OURS: 1.1}),
        ({OURS: [0.5] * 2}, {OURS: [0.9] * 3}, {}),  # fewer than three rounds
        ({OURS: [0.5] * 3}, {"std::vector": [2.0] * 3, OURS: [1.0] * 3}, {"std::vector": 2.0}),  # a slower machine is no change of ours
        ({OURS: [0.0] * 3}, {OURS: [1.0] * 3}, {OURS: float("inf")}),
    ],
)
def test_what_changed_by_more_than_the_noise_is_found(tmp_path, first, second, changed):
    yardstick = {"std::vector": [1.0, 1.0, 1.0]}
    found = compared(tmp_path, times({**yardstick, **first}), times({**yardstick, **second}))
    assert found.changes
    assert {change.contender: change.factor for change in found.worse + found.better} == pytest.approx(changed, rel=0.02)
    assert ("∞" in compare.text(found, ["a", "b"])) == (float("inf") in changed.values())


def test_on_different_machines_only_ratios_are_compared(tmp_path):
    found = compared(tmp_path, times({"std::vector": [1.0], OURS: [0.5]}), times({"std::vector": [9.0], OURS: [4.5]}, cpu="Another"))
    assert [change.contender for change in found.changes] == [OURS]
    assert any("different machines" in warning for warning in found.warnings)


def test_the_command_prints_what_changed_and_says_by_its_status_whether_anything_could_be_compared(tmp_path, capsys):
    a = samples.write(tmp_path / "a.jsonl", samples.published("memory"))
    b = samples.write(tmp_path / "b.jsonl", samples.published("memory", "instructions"))
    assert main(["compare", str(a), str(b)]) == 0
    told = capsys.readouterr().out
    assert "Worse in B" in told and f"Only in {b}: 1 cells" in told and f"Only in {a}" not in told
    assert main(["compare", str(a), str(tmp_path / "missing.jsonl")]) == 1
    assert "hold no run" in capsys.readouterr().out


def test_memory_resources_are_compared_by_their_ratio_to_the_global_allocator(tmp_path):
    def one(pool):
        figures = {"std::allocator AS1": [1.0, 1.0, 1.01], "headroom::multipool_resource AS7": pool}
        return times(figures, experiment="utilization", T_exponent=28, A_exponent=20, S_exponent=10)

    (worse,) = compared(tmp_path, one([0.5, 0.5, 0.51]), one([0.7, 0.7, 0.71])).worse
    assert worse.relative == "std::allocator AS1" and worse.factor == pytest.approx(1.4, rel=0.02)


def test_the_append_in_a_million_is_compared_only_where_there_are_a_million(tmp_path):
    def one(tail, elements):
        return times({"std::vector": [tail] * 3}, experiment="latency", metric="append_p999999", elements=elements)

    assert not compared(tmp_path, one(1e-6, 1000), one(5e-6, 1000)).changes
    assert compared(tmp_path, one(1e-6, 10**7), one(5e-6, 10**7)).changes
