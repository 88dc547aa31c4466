# SPDX-License-Identifier: MIT
"""The report on the terminal: readable at 80 columns, and no more certain than the page."""

import re
from html import unescape

import pytest
from headroom_report.page import html, model, text
from headroom_report.results import reading as results, words
from headroom_report.tables.table import Column, Entry, Table, plain

import samples


@pytest.mark.parametrize("everything", [False, True])
def test_the_text_keeps_to_the_terminals_width(published, everything):
    for width in (80, 60):
        lines = text.report_text(published, width, everything).splitlines()
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


def test_a_preloaded_allocators_version_is_said_to_be_its_own(tmp_path):
    libraries = {
        "std::vector": "12", "std::vector under mimalloc 3.4": "libmimalloc.so.3.4", "headroom::vector under mimalloc 3.4": "libmimalloc.so.3.4",
        "std::allocator AS1 under jemalloc": "libjemalloc.so.2", "headroom::vector": "0.1.0",
    }
    records = [{**samples.MACHINE, "libraries": libraries}, samples.run("one-growth", "std::vector", {"bytes": 4096}, {"time": 1.0})]
    (machine,) = model.build(results.read([samples.write(tmp_path / "one.jsonl", records)])).machines
    assert dict(machine.facts)["libraries"] == "headroom 0.1.0, jemalloc libjemalloc.so.2, mimalloc 3.4 libmimalloc.so.3.4, std 12"


def test_an_experiment_after_no_document_names_none(published, page):
    assert any(not section.experiment.document for section in published.machines[0].sections)
    assert "After: Reserve and commit." in page and "After: ." not in page


def test_the_terminal_tells_the_pages_story_in_the_pages_order(tmp_path):
    """Troubles first, then where it loses, claims, promises, losses, each experiment, the machine, notes."""
    other = {**samples.MACHINE, "id": "feedf00d", "cpu": "Another processor"}
    again = [{**record, "machine": "feedf00d"} for record in samples.published("memory")[1:]]
    records = [*samples.published("memory", "push-back", "contention"), other, *again, {"v": 7, "kind": "run"}]
    report = model.build(results.read([samples.write(tmp_path / "two.jsonl", records)]))
    page, told = html.render(report), " ".join(text.report_text(report, 80, True).split())
    page = unescape(page[page.index("<h1>") :].replace("<wbr>", ""))
    (trouble,) = [one for one in report.troubles if "could not be read" in one]
    first, second = report.machines
    story = [(trouble, trouble), ("<b>Where it loses</b>", "Where it loses")]
    story += [(f"<b>{document}</b>", f"What “{document}” claims") for document in dict.fromkeys(one.claim.document for one in first.verdicts)]
    story += [("<b>What Headroom promises</b>", "What Headroom promises"), ("Every cell where Headroom", "Every cell where Headroom")]
    story += [(f"<b>{one.experiment.title}</b>", f"{one.experiment.title}: {one.experiment.question}") for one in first.sections]
    story += [("<b>The machine</b>", "The machine"), (f'aria-label="{second.title}, more"', second.title), ("<b>About these results</b>", "About these results")]
    for side, where in zip((page, told), zip(*story)):
        at = -1
        for words in where:
            at = side.find(words, at + 1)
            assert at >= 0, words


def test_no_parameter_is_told_by_its_name_in_the_files(published):
    """“threads 2” and “262,144 8 bytes” are no English; of every cell that is published."""
    found = published.machines[0].cells
    names = {name for cell in found for name in cell.parameters}
    assert len(names) > 30
    for cell in found:
        told = words.configuration(cell.parameters)
        assert not [name for name, value in cell.parameters.items() if f"{name} {value}" in told], told
        assert not re.match(r"[\d,⁰¹²³⁴⁵⁶⁷⁸⁹]+(, |$)", told), told  # 200 of what?
    point = {"element": "8 bytes", "elements": 262144, "threads": 2, "batch": 1}
    assert words.configuration(point) == "262,144 of 8 bytes, 2 threads, one by one"
