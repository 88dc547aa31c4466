"""The report on the terminal: readable at 80 columns, and no more certain than the page."""

import pytest
from headroom_report.page import model, text
from headroom_report.results import reading as results
from headroom_report.tables.table import Column, Entry, Table, plain

import samples


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return model.build(results.read([samples.write(tmp_path_factory.mktemp("full") / "full.jsonl", samples.full(paired=True))]))


@pytest.mark.parametrize("everything", [False, True])
def test_the_text_keeps_to_the_terminals_width(full, everything):
    for width in (80, 60):
        lines = text.report_text(full, width, everything).splitlines()
        assert [line for line in lines if len(line) > width] == []


def test_a_table_that_is_wider_than_the_terminal_is_told_row_by_row_and_a_narrow_one_stays_a_table():
    made = Table([Column("what"), Column("time", True), Column("who")], [[Entry("a cell", small="noisy"), Entry("1 ns"), Entry("somebody")]])
    assert plain(made, 80).splitlines()[0].split() == ["what", "time", "who"]
    assert plain(made, 20) == "a cell (noisy)\n    time: 1 ns; who:\n    somebody"


def test_a_loss_that_is_undecided_says_so_on_the_terminal_too(tmp_path):
    records = [dict(samples.MACHINE)] + [
        samples.run("one-growth", name, {"element": "int", "bytes": 4096}, {"time": time})
        for name, time in ((samples.SETTLED, 2.0), ("std::vector", 1.0))
    ]
    report = model.build(results.read([samples.write(tmp_path / "one.jsonl", records)]))
    assert "2.00 (one round)" in text.report_text(report, 80, True)
