"""Two result sets side by side."""

import pytest
from headroom_report.page import compare
from headroom_report.results import reading as results
from headroom_report.__main__ import main

import samples

OURS = samples.SETTLED


def times(figures, cpu="Made-up processor"):
    """figures: contender -> the rounds' times, all at one size of one-growth."""
    records = [{**samples.MACHINE, "cpu": cpu}]
    for name, rounds in figures.items():
        for number, time in enumerate(rounds):
            records.append(samples.run("one-growth", name, {"element": "int", "bytes": 65536}, {"time": time}, number))
    return records


def compared(tmp_path, first, second):
    return compare.compare(
        results.read([samples.write(tmp_path / "a.jsonl", first)]),
        results.read([samples.write(tmp_path / "b.jsonl", second)]),
    )


def test_a_set_compared_with_itself_has_not_changed(tmp_path):
    found = compared(tmp_path, samples.full(), samples.full())
    assert len(found.changes) > 100 and not found.better and not found.worse and not found.verdicts
    assert found.missing == ([], [])


def test_what_became_slower_and_faster_is_found(tmp_path):
    found = compared(
        tmp_path,
        times({"std::vector": [1.0, 1.0, 1.01], OURS: [0.5, 0.5, 0.51], OURS + "/open": [0.8, 0.8, 0.81]}),
        times({"std::vector": [1.0, 1.0, 1.01], OURS: [0.7, 0.7, 0.71], OURS + "/open": [0.4, 0.4, 0.41]}),
    )
    (worse,), (better,) = found.worse, found.better
    assert worse.contender == OURS and worse.factor == pytest.approx(1.4, rel=0.02)
    assert better.contender == OURS + "/open" and better.factor == pytest.approx(0.5, rel=0.02)


def test_rounds_that_scatter_as_far_are_no_change(tmp_path):
    found = compared(
        tmp_path,
        times({"std::vector": [1.0, 1.0, 1.0], OURS: [0.5, 0.6, 0.7]}),
        times({"std::vector": [1.0, 1.0, 1.0], OURS: [0.65, 0.75, 0.9]}),
    )
    assert found.changes and not found.worse


def test_a_slower_machine_is_no_change_of_ours(tmp_path):
    found = compared(
        tmp_path,
        times({"std::vector": [1.0, 1.0, 1.01], OURS: [0.5, 0.5, 0.505]}),
        times({"std::vector": [2.0, 2.0, 2.02], OURS: [1.0, 1.0, 1.01]}),
    )
    assert [change.contender for change in found.worse] == ["std::vector"]


def test_on_different_machines_only_ratios_are_compared(tmp_path):
    found = compared(
        tmp_path, times({"std::vector": [1.0], OURS: [0.5]}), times({"std::vector": [9.0], OURS: [4.5]}, cpu="Another")
    )
    assert [change.contender for change in found.changes] == [OURS]
    assert any("different machines" in warning for warning in found.warnings)


def test_a_change_smaller_than_equal_things_lie_apart_does_not_count(tmp_path):
    quiet = compared(
        tmp_path,
        times({"std::vector": [1.0, 1.0, 1.0], OURS: [0.50, 0.50, 0.50]}),
        times({"std::vector": [1.0, 1.0, 1.0], OURS: [0.55, 0.55, 0.55]}),
    )
    assert len(quiet.worse) == 1
    noisy = compared(
        tmp_path,
        times({"std::vector": [1.0, 1.0, 1.0], "std::vector#2": [1.2, 1.2, 1.2], OURS: [0.50, 0.50, 0.50]}),
        times({"std::vector": [1.0, 1.0, 1.0], OURS: [0.55, 0.55, 0.55]}),
    )
    assert not noisy.worse


def test_a_time_taken_in_fewer_than_three_rounds_tells_no_change(tmp_path):
    found = compared(tmp_path, times({"std::vector": [1.0] * 2, OURS: [0.5] * 2}), times({"std::vector": [1.0] * 3, OURS: [0.9] * 3}))
    assert found.changes and not found.worse


def test_verdicts_that_differ_and_cells_on_one_side_are_named(tmp_path):
    first, second = samples.full(), [record for record in samples.full() if record.get("experiment") != "instructions"]
    found = compared(tmp_path, first, second)
    assert [(before.claim.id, before.state, after.state) for before, after in found.verdicts] == [
        ("instructions", "holds", "not run")
    ]
    assert found.missing[1] == ["instructions: —"]


def test_from_nothing_to_something_is_infinitely_worse_and_no_traceback(tmp_path):
    found = compared(
        tmp_path,
        times({"std::vector": [1.0, 1.0, 1.0], OURS: [0.0, 0.0, 0.0]}),
        times({"std::vector": [1.0, 1.0, 1.0], OURS: [1.0, 1.0, 1.0]}),
    )
    assert found.worse[0].factor == float("inf")
    assert "∞" in compare.text(found)


def test_the_command_writes_text_and_a_page(tmp_path, capsys):
    a = samples.write(tmp_path / "a.jsonl", samples.full())
    b = samples.write(tmp_path / "b.jsonl", samples.full(paired=True))
    assert main(["compare", str(a), str(b)]) == 0
    assert "Worse in B" in capsys.readouterr().out
    assert main(["compare", str(a), str(b), "--out", str(tmp_path / "page.html")]) == 0
    assert "Two result sets" in (tmp_path / "page.html").read_text()
    assert main(["compare", str(a), str(tmp_path / "missing.jsonl")]) == 1
    assert "holds no run" in capsys.readouterr().out


def test_memory_resources_are_compared_by_their_ratio_to_the_global_allocator(tmp_path):
    def one(pool):
        records = [dict(samples.MACHINE)]
        for name, rounds in (("std::allocator AS1", [1.0, 1.0, 1.01]), ("headroom::multipool_resource AS7", pool)):
            for number, time in enumerate(rounds):
                point = {"T_exponent": 28, "A_exponent": 20, "S_exponent": 10}
                records.append(samples.run("utilization", name, point, {"time": time}, number))
        return records

    found = compared(tmp_path, one([0.5, 0.5, 0.51]), one([0.7, 0.7, 0.71]))
    (worse,) = found.worse
    assert worse.relative == "std::allocator AS1" and worse.factor == pytest.approx(1.4, rel=0.02)


def test_the_append_in_a_million_is_compared_only_where_there_are_a_million(tmp_path):
    def one(tail):
        records = [dict(samples.MACHINE)]
        for elements in (1000, 10_000_000):
            for number in range(3):
                point = {"element": "int", "elements": elements, "optimisation": "O2"}
                records.append(samples.run("latency", "std::vector", point, {"append_p999999": tail + number * 1e-9}, number))
        return records

    found = compared(tmp_path, one(1e-6), one(5e-6))
    assert [change.parameters["elements"] for change in found.changes] == [10_000_000]
