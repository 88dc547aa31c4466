"""Results of several machines in one report: each answer and each verdict that differs, side by side."""

import pytest
import samples
from headroom_report.page import beside, html, model, text
from headroom_report.results import reading

FAST, SLOW = {**samples.MACHINE}, {**samples.MACHINE, "id": "feedf00d", "cpu": "Another processor"}


def grown(machine, ours):
    """Appends: std::vector takes 1 s, Headroom's default so many, in three rounds."""
    return [machine] + [
        samples.run("throughput", name, {"element": "int", "elements": elements, "optimisation": "O2"}, {"time": time}, number, machine=machine["id"])
        for number in range(3)
        for elements in (1000, 100_000_000)
        for name, time in (("std::vector", 1.0), ("headroom::vector", ours), ("headroom::settled_vector", ours))
    ]


def report_of(folder, *files):
    paths = [samples.write(folder / f"{number}.jsonl", lines) for number, lines in enumerate(files)]
    return model.build(reading.read(paths))


@pytest.fixture
def two(tmp_path):
    """One machine on which Headroom takes a fifth of the time, and another."""
    return lambda ours, other=SLOW: report_of(tmp_path, grown(FAST, 0.2), grown(other, ours))


def cells_of(table, start):
    row = next(row for row in table.rows if row[0].text.startswith(start))
    return dict(zip([column.title for column in table.columns[1:]], [entry.text for entry in row[1:]]))


def test_one_machine_has_nothing_beside_it(tmp_path):
    report = report_of(tmp_path, grown(FAST, 0.2))
    assert beside.beside(report).tables == []
    assert 'id="beside"' not in html.render(report)


def test_two_files_of_two_machines_lie_side_by_side(two):
    report = two(0.5)
    found = beside.beside(report)
    answers = found.tables[0]
    growing = report.machines[0].panels[0].lines[0].answer.title
    told = cells_of(answers, growing)
    assert {name: value.split()[0] for name, value in told.items()} == {"Made-up processor, 2 cores": "0.20", "Another processor, 2 cores": "0.50"}
    page = html.render(report)
    assert 'href="#beside"' in page and "Another processor, 2 cores" in page


def test_a_merged_file_is_the_same_as_two_files(two, tmp_path):
    assert beside.beside(two(0.5)) == beside.beside(report_of(tmp_path, grown(FAST, 0.2) + grown(SLOW, 0.5)))


def test_a_sentence_that_holds_on_one_machine_only_says_on_which(two):
    report = two(3.0)
    verdicts = beside.beside(report).tables[1]
    promised = [row for row in verdicts.rows if row[1].text == "Headroom's promise"]
    assert any([entry.text for entry in row[2:]] in (["met", "missed"], ["met where run", "missed"]) for row in promised)
    for row in verdicts.rows:
        assert len({entry.text for entry in row[2:]}) > 1, row[0].text
    told = text.report_text(report, 80)
    assert "Made-up processor, 2 cores: met" in told and "Another processor, 2 cores: missed" in told
    assert max(map(len, told.splitlines())) <= 80


def test_what_only_one_machine_measured_is_no_figure_of_the_other(tmp_path):
    report = report_of(tmp_path, grown(FAST, 0.2), [SLOW, *grown(SLOW, 0.5)[4:7]])
    answers = beside.beside(report).tables[0]
    assert any("—" in [entry.text for entry in row[1:]] for row in answers.rows)


def test_machines_with_the_same_processor_are_told_apart(two):
    report = two(0.5, {**samples.MACHINE, "id": "feedf00d", "kernel": "Linux 7.0"})
    assert beside.names(report.machines) == ["Made-up processor, 2 cores, Linux 6.18", "Made-up processor, 2 cores, Linux 7.0"]
