# SPDX-License-Identifier: MIT
"""The result sets that docs/report keeps: one a processor, each renewed by itself, and said to be as old as they are."""

import subprocess
import sys
from pathlib import Path

import pytest
from headroom_report.__main__ import main
from headroom_report.page import model
from headroom_report.results import figures, reading, sets
from headroom_report.verdicts import losing, standing
from headroom_report.verdicts.standing import Place

import samples

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import history  # noqa: E402
import quoted_figures  # noqa: E402


@pytest.mark.parametrize(
    "cpu, name",
    [
        ("AMD EPYC", "amd-epyc"),
        ("Intel(R) Xeon(R) Processor", "intel-xeon"),
        ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "intel-xeon-e5-2680-v4"),
        ("AMD EPYC 7763 64-Core Processor", "amd-epyc-7763"),
        ("aarch64", "aarch64"),
        ("../..", "unknown"),
    ],
)
def test_a_set_is_named_by_its_processor(cpu, name):
    assert sets.name_of({"cpu": cpu}) == name


def results(folder, cpu, identity, started):
    point = {"element": "int", "elements": 1000, "optimisation": "O2"}
    machine = {**samples.MACHINE, "cpu": cpu, "id": identity, "started": started}
    runs = [samples.run("throughput", name, point, {"time": 1e-6}, machine=identity) for name in ("std::vector", samples.SETTLED)]
    return str(samples.write(folder / f"{identity}.jsonl", [machine, *runs]))


def test_publishing_renews_the_set_of_its_own_processor_and_keeps_the_others(tmp_path, capsys):
    report = tmp_path / "report"
    for cpu, identity, started in (("One", "first", "2026-01-01"), ("Two", "second", "2026-01-02"), ("One", "third", "2026-01-03")):
        main([results(tmp_path, cpu, identity, started), "--publish", str(report)])
    kept = model.build(reading.read(sets.files(report)))
    assert [path.name for path in sets.files(report)] == ["one.jsonl.gz", "two.jsonl.gz"]
    assert [machine.id for machine in kept.machines] == ["third", "second"]  # the newest first
    page = (report / "index.html").read_text()
    assert page.index(">One</a>") < page.index(">Two</a>") and sets.stamp_of(report) in page


def place(ratio, experiment="throughput", metric="time", outcome="worse", other="std::vector"):
    return Place(experiment, "time to build", metric, {}, samples.SETTLED, None, other, None, ratio, outcome)


def lines(*places):
    from headroom_report.page import experiments

    return losing.of({"One": standing.Standing(list(places))}, experiments.every())


def test_where_it_loses_is_told_by_experiment_and_measure_with_the_worst_and_how_many():
    (line,) = lines(place(1.2), place(1.4), place(3.0, other="boost::container::vector"), place(0.5, outcome="better"), place(9.0, outcome="one round"))
    assert line.by == "1.40 times, at most 3.00, in 3 of 4 cells"
    assert line.against == "std::vector, boost::container::vector" and line.machine == "One"


def test_a_line_says_the_limit_that_was_measured_on_its_machine():
    from headroom_report.page import experiments

    touching = figures.cells(samples.rounds("commit-cost", "first_touch", [2e-5], "call_p50", pages=16))
    lost = place(3.0, "latency", "append_max")
    said = [losing.of({"One": standing.Standing([lost])}, experiments.every(), cells)[0].work for cells in ({"One": touching}, {"Two": touching})]
    assert said[0].endswith("; limit: the first touch of 16 pages takes 20.0 µs") and "limit" not in said[1]


def test_what_lies_within_a_twentieth_is_no_line_and_there_are_at_most_twelve():
    assert lines(place(1.04)) == []
    from headroom_report.page import experiments

    contests = [(one.id, contest.metric) for one in experiments.every() for contest in one.contests][:20]
    found = lines(*(place(1.1 + number, *contest) for number, contest in enumerate(contests)))
    assert len(found) == 12 and found[0].by.startswith("20.10 times")


def repository(folder, commits):
    def git(*words):
        return subprocess.run(["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@x", *words], check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    for number in range(commits):
        for room in ("include", "src"):
            (folder / room).mkdir(exist_ok=True)
            (folder / room / "one.hpp").write_text(str(number))
        git("add", ".")
        git("commit", "-qm", "x")
    return git


def test_results_are_as_old_as_the_commits_that_changed_the_library_since(tmp_path, monkeypatch):
    git = repository(tmp_path, 4)
    monkeypatch.setattr(history, "ROOT", tmp_path)
    trees = "-".join(tree[:8] for tree in git("rev-parse", "HEAD:include", "HEAD:src").split())
    assert quoted_figures.commits_since({"commit": git("rev-parse", "HEAD~3"), "library": "another"}) == 3
    (tmp_path / "README.md").write_text("x")
    git("add", ".")
    git("commit", "-qm", "no change of the library")
    assert quoted_figures.commits_since({"commit": git("rev-parse", "--short", "HEAD~4") + "+", "library": "another"}) == 3
    assert quoted_figures.commits_since({"commit": git("rev-parse", "HEAD~4"), "library": trees}) == 0
    assert quoted_figures.commits_since({"commit": "0" * 40, "library": "another"}) is None


@pytest.mark.parametrize("count", [0, 1, 14])
def test_an_age_is_read_as_it_was_said(count):
    assert quoted_figures.age_said(quoted_figures.age_in_words(count)) == count
    assert quoted_figures.age_said("of last year's") is None
