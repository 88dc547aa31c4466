# SPDX-License-Identifier: MIT
"""Figures in the documentation are put there by scripts/quoted_figures.py, from the published results."""

import gzip
import json
import sys
from pathlib import Path

import pytest
import samples

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import quoted_figures  # noqa: E402

STD, OURS = "std::vector", samples.SETTLED


def quotes_of(folder, more=(), **group):
    lines = [samples.MACHINE, *more]
    for number, (std, ours) in enumerate([(2e-3, 1e-3), (4e-3, 1.2e-3), (3e-3, 0.9e-3)]):
        for elements in (1000, 2000):
            for contender, value in ((STD, std), (OURS, ours)):
                lines.append(samples.run("throughput", contender, {"elements": elements}, {"time": value}, number))
    (folder / quoted_figures.REPORT / "results").mkdir(parents=True)
    group = {"experiment": "throughput", "where": {"elements": 1000}, "metric": "time", "as": "us"} | group
    (folder / "docs/figures.json").write_text(json.dumps({"T": group}))
    packed = gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    (folder / quoted_figures.REPORT / "results/made-up.jsonl.gz").write_bytes(packed)
    return quoted_figures.Quotes(folder)


def test_a_figure_is_the_median_of_the_rounds_in_its_unit(tmp_path):
    quotes = quotes_of(tmp_path, figures={"std": STD, "in_ms": {"of": OURS, "as": "ms"}})
    assert quotes.value("T.std") == "3,000"
    assert quotes.value("T.in_ms") == "1.0"


def test_a_ratio_is_taken_of_the_medians(tmp_path):
    quotes = quotes_of(tmp_path, **{"as": "share", "to": STD}, figures={"ours": OURS, "std": {"of": STD, "to": OURS, "as": "times"}})
    assert quotes.value("T.ours") == "0.33"
    assert quotes.value("T.std") == "3.0"


def test_the_least_and_the_most_of_several_configurations_and_how_many_they_are(tmp_path):
    runs = [samples.run("throughput", STD, {"elements": elements}, {"time": value}) for elements, value in ((3000, 1e-3), (4000, 9e-3))]
    picks = {pick: {"of": STD, "pick": pick} for pick in ("least", "most", "count")}
    quotes = quotes_of(tmp_path, runs, where={}, figures=picks, **{"as": "ms"})
    assert [quotes.value(f"T.{pick}") for pick in picks] == ["1.0", "9.0", "4"]
    with pytest.raises(quoted_figures.Unknown, match="has no time"):  # rather than the least of those that ended well
        quotes_of(tmp_path / "lost", runs[:1], where={}, figures={"least": {"of": OURS, "pick": "least"}}).value("T.least")


def test_figures_of_results_that_lie_apart_come_from_the_file_that_knows_them(tmp_path):
    (tmp_path / "table.py").write_text("def quotes():\n    return {'mean': '0.80'}\n")
    quotes = quotes_of(tmp_path, made_by="table.py", figures={"all": "mean", "none": "median"})
    assert quotes.value("T.all") == "0.80"
    with pytest.raises(quoted_figures.Unknown, match="table.py makes no median"):
        quotes.value("T.none")


@pytest.mark.parametrize(
    "name, group, why",
    [
        ("T.none", {"figures": {}}, "no such name"),
        ("U.std", {"figures": {}}, "no such name"),
        ("T.std", {"figures": {"std": STD}, "where": {}}, "2 configurations"),
        ("T.std", {"figures": {"std": STD}, "where": {"elements": 3}}, "0 configurations"),
        ("T.std", {"figures": {"std": STD}, "metric": "weight"}, "has no weight"),
        ("T.std", {"figures": {"std": "a vector nobody ran"}}, "has no time"),
    ],
)
def test_what_the_results_do_not_hold_is_said(tmp_path, name, group, why):
    with pytest.raises(quoted_figures.Unknown, match=why):
        quotes_of(tmp_path, **group).value(name)


@pytest.mark.parametrize("value, unit, text", [(4.8e-8, "ns", "48"), (1.74e-9, "ns", "1.7"), (0.0423, "share", "0.042"), (2.546e-6, "ns", "2,546"), (8e-10, "ns", "0.8")])
def test_figures_have_as_many_digits_as_mean_something(value, unit, text):
    assert quoted_figures.written(value, unit) == text


def test_figures_are_of_the_newest_set_or_of_the_one_named(tmp_path):
    more = [
        {**samples.MACHINE, "id": "feedf00d", "cpu": "Another"},
        samples.run("throughput", STD, {"elements": 1000}, {"time": 5e-6}, machine="feedf00d"),
    ]
    quotes = quotes_of(tmp_path, more, figures={"std": STD})
    assert quotes.value("T.std") == "3,000"
    assert quotes.value("report.machine") == "Made-up processor, 2 cores, Linux 6.18, GCC 12.2.0"
    quotes.groups["T"]["machine"] = "Another"
    assert quotes.value("T.std") == "5.0"


def test_where_it_loses_stands_in_the_readme_in_the_pages_words():
    content = (quoted_figures.ROOT / "README.md").read_text(encoding="utf-8")
    table = quoted_figures.where_it_loses()
    assert 3 <= len(table.splitlines()) <= 14
    assert quoted_figures.with_losses(content, table) == content, "run scripts/quoted_figures.py"


@pytest.mark.parametrize("rounds, text", [({"a": 3, "b": 3}, "three rounds"), ({"a": 1, "b": 1, "c": 2}, "one round (`c`: 2)"), ({}, "no round")])
def test_the_rounds_of_a_report_are_told_in_words(rounds, text):
    assert quoted_figures.in_words(rounds) == text
