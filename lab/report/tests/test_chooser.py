"""“Choose yours”: the answer is the measured winner of the nearest cell, of those that may be."""

import pytest
from headroom_report.page import chooser
from headroom_report.results import reading as results
from headroom_report.results.figures import cells

import samples


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = samples.write(tmp_path_factory.mktemp("choose") / "full.jsonl", samples.full(paired=True))
    return chooser.cells_for_choice(cells(results.read([path]).runs))


def test_who_must_not_move_is_answered_with_what_does_not(rows):
    assert chooser.choice(rows, "build", "int", 1e3, False)["found"][0]["name"] == "std::vector"
    assert all(one["name"].startswith(samples.SETTLED) for one in chooser.choice(rows, "build", "int", 1e3, True)["found"])


def test_an_allocator_is_chosen_for_a_container_by_its_contents_and_size(rows):
    answer = chooser.choice(rows, "structures", "unordered_set<string>", 900, False)
    assert answer["where"] == "DS4 unordered_set<string>, 2¹⁰ elements"
    fastest = min(
        (record["metrics"]["time"]["values"][0], record["contender"])
        for record in samples.full()
        if record.get("experiment") == "data-structures"
        and record["parameters"].get("structure") == "DS4"
        and record["parameters"]["size_exponent"] == 10
        and record["contender"].endswith((" AS1", " AS3", " AS7", " AS11"))
        and "/" not in record["contender"]
    )
    assert answer["found"][0]["name"] == fastest[1].rsplit(" ", 1)[0]


def test_no_answer_is_the_labs_own_bound_or_needs_to_know_the_future(rows):
    names = {one["name"] for row in rows if row["matter"] in ("structures", "forgotten", "threads") for one in row["found"]}
    assert names and not any(name.startswith("floor") or "/" in name for name in names)


def test_threads_are_chosen_by_their_number_and_by_what_they_share(rows):
    there = {row["element"] for row in rows if row["matter"] == "threads"}
    assert {"4 threads, a resource each", "4 threads, one resource for all"} <= there
    assert not any(row["sized"] for row in rows if row["matter"] == "threads")


def test_every_headroom_answer_comes_with_its_code(rows):
    names = {one["name"] for row in rows for one in row["found"] if one["name"].startswith("headroom::")}
    assert names - set(chooser.CODE) <= {"headroom::vector/heap", "headroom::vector/page_by_page"}
