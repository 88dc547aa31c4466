"""“Choose yours”: the answer is the measured winner of the nearest cell, of those that may be."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest
from headroom_report.page import chooser, code
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


def test_several_threads_are_answered_from_cells_with_several(rows):
    assert not [row for row in rows if row["matter"] == "threads" and row["element"].startswith("1 thread,")]


def test_a_size_that_was_not_measured_is_said_not_to_be(rows):
    sizes = sorted(row["elements"] for row in rows if row["matter"] == "build" and row["element"] == "int")
    assert chooser.choice(rows, "build", "int", sizes[-1], False)["far"] == ""
    assert "the largest" in chooser.choice(rows, "build", "int", 100 * sizes[-1], False)["far"]
    assert "the smallest" in chooser.choice(rows, "build", "int", 1, False)["far"]


def test_whether_it_is_safe_for_threads_is_always_said(rows):
    for row in rows:
        for one in row["found"]:
            assert "hread" in one["safe"], one["name"]
    assert code.safety("headroom::multipool_resource").startswith("Not safe")
    assert code.safety("headroom::synchronized_multipool_resource").startswith("Several threads may")
    assert code.safety("std::pmr::unsynchronized_pool_resource").startswith("Not safe")
    assert code.safety("headroom::settled_vector").startswith("Not safe")


SIZES = [10.0**power for power in range(11)]  # those that the form offers
INCLUDES = {
    "headroom::": "<headroom/headroom.hpp>",
    "boost::container::vector": "<boost/container/vector.hpp>",
    "boost::container::stable_vector": "<boost/container/stable_vector.hpp>",
    "boost::container::devector": "<boost/container/devector.hpp>",
    "absl::InlinedVector": "<absl/container/inlined_vector.h>",
    "tbb::": "<tbb/concurrent_vector.h>",
}


def test_every_element_that_the_lab_measures_for_a_choice_has_its_spelling(rows):
    source = pathlib.Path(__file__).resolve().parents[2] / "experiments/everyday/measure.cpp"
    found = re.search(r"const char\* element : \{(.*?)\}\)", source.read_text(encoding="utf-8"))[1]
    names = set(re.findall(r'"(.*?)"', found))
    assert "pair<int,string>" in names
    assert names | {"int", "unique_ptr<int>"} == set(code.SPELT)
    assert {row["element"] for row in rows if row["matter"] == "everyday-push"} == names
    assert code.of("headroom::vector", "something new") == {}


def every_answer(rows):
    """Whatever the form can be asked: (element, elements, code) of each winner, and of each that could win elsewhere."""
    found = set()
    for matter, element in {(row["matter"], row["element"]) for row in rows}:
        for elements in SIZES:
            for stay in (False, True):
                answer = chooser.choice(rows, matter, element, elements, stay)
                for one in answer["found"]:
                    text = code.text(one, elements)
                    if text:
                        found.add((one["name"], element if "<int>" not in text.split("v")[-1] else "int", elements, text))
    return sorted(found)


def test_an_allocator_to_preload_is_said_beside_the_code():
    shown = code.of("std::vector under jemalloc", "int")["code"]
    assert "LD_PRELOAD=jemalloc" in shown and shown.endswith("std::vector<int> v;")
    assert "GLIBC_TUNABLES" in code.of("headroom::settled_vector under hugetlb", "int")["code_many"]
    assert code.of("gch::small_vector under jemalloc", "int") == {}


def test_every_headroom_answer_comes_with_its_code(rows):
    for row in rows:
        for one in row["found"]:
            if one["name"].startswith("headroom::"):
                assert one["code"], one["name"]


def test_code_for_more_elements_than_the_default_holds_says_how_many(rows):
    answer = chooser.choice(rows, "build", "int", 1e10, True)
    assert answer["found"][0]["name"].startswith("headroom::settled_vector")
    assert "max_elements{10000000000}" in answer["code"]
    assert "max_elements" not in chooser.choice(rows, "build", "int", 1e9, True)["code"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_every_code_that_can_be_answered_compiles_runs_and_holds_that_many(rows, tmp_path):
    """All in one program, each answer a function; every vector must be able to hold what was asked for, and takes elements."""
    source = pathlib.Path(__file__).resolve().parents[3]
    includes, functions, calls = {"<cstdint>", "<cstdio>", "<memory>", "<memory_resource>", "<string>", "<utility>", "<vector>"}, [], []
    # The largest size of each text is the one it must hold.
    largest = {}
    for name, element, elements, text in every_answer(rows):
        if "{N}" in text or "max_elements" in text:
            largest[text] = (name, elements)
        elif text not in largest or largest[text][1] < elements:
            largest[text] = (name, elements)
    assert len(largest) > 15
    for text, (name, elements) in largest.items():
        for start, header in INCLUDES.items():
            if text.startswith(start) or start in text:
                if start.startswith("headroom") or pathlib.Path("/usr/include", header[1:-1]).exists():
                    includes.add(header)
                else:
                    break
        else:
            number = len(functions)
            other = any(kind in text.splitlines()[-1] for kind in ("unique_ptr", "std::string", "record"))
            take = "v.push_back({});" if other else "v.push_back(i);"
            before, end, after = text.rpartition("\n};\n")  # a policy stands outside
            functions.append(
                f"namespace in{number} {{\n{before}{end}static bool answer() {{\n{after}\nfor (int i = 0; i < 1000; ++i) {take}\n"
                f"return v.size() == 1000 && static_cast<double>(v.max_size()) >= {elements:.0f}.0;\n}}\n}}"
            )
            calls.append(f'if (!in{number}::answer()) {{ std::puts({json.dumps(name)}); return 1; }}')
    assert len(functions) > 12
    program = "\n".join(f"#include {header}" for header in sorted(includes))
    program += "\n" + "\n".join(functions) + "\nint main() {\n" + "\n".join(calls) + "\n}\n"
    (tmp_path / "answers.cpp").write_text(program, encoding="utf-8")
    system = ("posix.cpp", "windows.cpp", "files_windows.cpp")  # of other systems
    library = [str(path) for path in (source / "src").rglob("*.cpp") if path.name not in system]
    built = subprocess.run(
        ["g++", "-std=c++20", "-O0", f"-I{source / 'include'}", f"-I{source / 'src'}", str(tmp_path / "answers.cpp"), *library]
        + ["-pthread", "-o", str(tmp_path / "answers")] + (["-ltbb"] if "<tbb/concurrent_vector.h>" in includes else []),
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr[:3000]
    ran = subprocess.run([str(tmp_path / "answers")], capture_output=True, text=True)
    assert ran.returncode == 0, f"does not hold as many as it was recommended for: {ran.stdout}{ran.stderr}"
