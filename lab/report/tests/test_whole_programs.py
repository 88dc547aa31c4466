# SPDX-License-Identifier: MIT
"""The programs of the experiment whole-programs: what is switched in their sources, where those come from, and when one is made."""

from __future__ import annotations

import gzip
import json
import pathlib
import re
import shutil
import subprocess

import pytest
from headroom_report.results import published
from headroom_report.verdicts import claims

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "experiments/whole-programs"


@pytest.fixture(scope="module")
def programs():
    return published.module(FOLDER / "programs.py")


@pytest.fixture(scope="module")
def table():
    return published.module(FOLDER / "table.py")


@pytest.mark.parametrize(
    "before, after",
    [
        ("std::vector<int> a;", "headroom::vector<int> a;"),
        ("std :: vector <int> a;", "headroom::vector<int> a;"),
        ("vector<vector<int> > a;", "headroom::vector<headroom::vector<int> > a;"),
        ("std::vector<std::vector<bool>> a;", "headroom::vector<std::vector<bool>> a;"),
        ("std::vector< bool > a;", "std::vector< bool > a;"),
        ("mine::vector<int> a; my_vector<int> b;", "mine::vector<int> a; my_vector<int> b;"),
        ("#include <vector>\nint vector;", "#include <vector>\nint vector;"),
    ],
)
def test_every_vector_is_switched_but_that_of_bool_and_other_peoples(programs, before, after):
    assert programs.switched(before) == after


def test_the_lab_measures_each_of_them(programs):
    source = (FOLDER / "measure.cpp").read_text(encoding="utf-8")
    listed = re.search(r"const char\* const program :\s*\{(.*?)\}", source, re.S)[1]
    assert re.findall(r'"(.*?)"', listed) == list(programs.PROGRAMS)
    names = re.findall(r'constexpr const char\* \w+ = "(.*?)"', source)
    assert names == list(programs.CONTENDERS)


def test_each_patch_is_of_a_program_and_says_what_found_it_in_forty_lines_at_most(programs, table):
    patches = sorted(programs.PATCHES.glob("*.patch"))
    assert patches and {one.stem for one in patches} <= set(programs.PROGRAMS)
    for one in patches:
        head = one.read_text(encoding="utf-8").split("--- a/")[0]
        assert re.search(r"^LD_PRELOAD=\S+ headroom profile -- \./", head) and "\nFollowed: " in head, one.name
        followed, advice, lines = table.patch(one.stem)
        assert followed and all("saves" in each for each in advice) and 0 < lines <= 40, one.name


def test_a_program_without_a_patch_has_a_reason_in_the_page(programs, table):
    assert list(table.PROGRAMS) == list(programs.PROGRAMS)
    for name, (what, why) in table.PROGRAMS.items():
        assert what and bool(why) != (programs.PATCHES / f"{name}.patch").is_file(), name


def test_sources_come_from_where_the_system_has_its_packages(programs, tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("# deb http://no.example/debian bookworm main\ndeb http://one.example/debian bookworm main\n")
    (tmp_path / "sources.list.d/debian.sources").write_text(
        "Types: deb\nURIs: http://two.example/debian\nSuites: bookworm bookworm-updates\nComponents: main contrib\n"
        "Signed-By: /usr/share/keyrings/debian.gpg\n\nTypes: deb\nURIs: http://three.example/debian-security\n"
        "Suites: bookworm-security\nComponents: main\n"
    )
    (tmp_path / "sources.list.d/other.list").write_text("deb http://four.example/apt stable main\n")
    assert programs.apt_entries(tmp_path).splitlines() == [
        "deb-src http://one.example/debian bookworm main",
        "deb-src [signed-by=/usr/share/keyrings/debian.gpg] http://two.example/debian bookworm main contrib",
        "deb-src [signed-by=/usr/share/keyrings/debian.gpg] http://two.example/debian bookworm-updates main contrib",
        "deb-src http://three.example/debian-security bookworm-security main",
    ]


def test_without_such_a_place_the_reason_is_said(programs, tmp_path, capsys):
    (tmp_path / "sources.list.d").mkdir()
    with pytest.raises(SystemExit) as ended:
        programs.downloaded(programs.PROGRAMS["ninja"], tmp_path, tmp_path)
    assert ended.value.code == 3 and "not a Debian system" in capsys.readouterr().out


def test_inputs_are_the_same_in_every_run(programs, tmp_path):
    inputs = programs.inputs
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for make in (inputs.records, inputs.documents, inputs.targets, inputs.module, inputs.configuration):
            make(tmp_path / name)
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert {"records.json", "documents.yaml", "build.ninja", "module.wasm", "services.jsonnet"} < names
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


@pytest.fixture
def toy(programs, tmp_path, monkeypatch):
    """A program whose source is there already."""
    source = tmp_path / "source/toy"
    source.mkdir(parents=True)
    (source / "toy.cpp").write_text("#include <vector>\nint main() { return static_cast<int>(std::vector<int>(3).size()); }\n")
    monkeypatch.setitem(programs.PROGRAMS, "toy", programs.Program("toy", ("*.cpp",), lambda folder: ["an argument"]))
    monkeypatch.setattr(programs, "PATCHES", tmp_path)
    compiler = shutil.which("c++") or pytest.skip("no compiler")
    library = tmp_path / "none.a"
    library.write_bytes(b"!<arch>\n")
    return lambda contender="std::vector": programs.made("toy", contender, tmp_path, compiler, library)


def test_a_program_is_made_once_and_anew_when_it_is_gone(toy, tmp_path):
    file, seconds = toy()
    assert subprocess.run([file]).returncode == 3 and seconds > 0
    made = file.stat().st_mtime_ns
    assert toy() == (file, seconds) and file.stat().st_mtime_ns == made
    shutil.rmtree(tmp_path / "toy-plain")
    assert toy()[0].stat().st_mtime_ns > made


def test_what_is_advised_is_a_patch_and_a_changed_patch_makes_it_anew(toy, tmp_path, capsys):
    shutil.which("patch") or pytest.skip("no patch")
    patch = "Found by a command.\n\n--- a/toy.cpp\n+++ b/toy.cpp\n@@ -2,1 +2,1 @@\n-int main() { return static_cast<int>(std::vector<int>(3).size()); }\n+int main() { return NUMBER; }\n"
    for number in (4, 5):
        (tmp_path / "toy.patch").write_text(patch.replace("NUMBER", str(number)))
        assert subprocess.run([toy("headroom::advised")[0]]).returncode == number
    assert subprocess.run([toy()[0]]).returncode == 3
    (tmp_path / "toy.patch").write_text(patch.replace("(3)", "(6)"))
    with pytest.raises(SystemExit) as ended:
        toy("headroom::advised")
    assert ended.value.code == 3 and "the patch of toy does not fit" in capsys.readouterr().out


def run_of(contender, time, program="toy", peak=1e6):
    """A line of a result file."""
    metrics = {"time": {"unit": "s", "values": [time]}, "peak": {"unit": "B", "values": [peak]}}
    return {"v": 1, "kind": "run", "machine": "m", "experiment": "whole-programs", "contender": contender, "parameters": {"program": program},
            "round": 0, "outcome": "ok", "detail": "", "metrics": metrics}


@pytest.fixture
def measured(table, tmp_path, monkeypatch):
    def measure(*runs):
        lines = [{"v": 1, "kind": "machine", "id": "m"}, *runs]
        (tmp_path / "results").mkdir()
        (tmp_path / "results/one.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
        monkeypatch.setattr(table, "REPORT", tmp_path)
        return table.measured()

    return measure


def test_stages_are_those_of_the_malloc_that_the_program_as_it_is_is_fastest_with(measured):
    (one,) = measured(run_of("std::vector", 1.0), run_of("std::vector under slow", 0.9), run_of("std::vector under fast", 0.8), run_of("std::vector under hugetlb", 0.1),
                      run_of("headroom::advised", 0.7), run_of("headroom::advised under slow", 0.1), run_of("headroom::advised under fast", 0.6))
    ratios = one.ratios("time")
    assert one.best == "fast" and one.advice
    assert (ratios["second"], ratios["third"], ratios["gain"], ratios["advised"]) == pytest.approx((0.8, 0.6, 0.75, 0.7))


def test_where_no_malloc_helps_the_best_is_the_systems_own(measured):
    (one,) = measured(run_of("std::vector", 1.0), run_of("std::vector under slow", 1.2))
    assert one.best == "" and one.ratios("time")["second"] == 1 and one.ratios("time")["third"] is None and not one.advice


def test_means_of_the_third_stage_are_of_the_programs_that_have_one(measured, table):
    measured(run_of("std::vector", 1.0), run_of("headroom::advised", 0.5), run_of("std::vector", 1.0, "other"))
    assert table.quotes()["time_gain"] == table.quotes()["time_gain_where_advised"] == "0.50" and table.quotes()["with_advice"] == "1"
    assert table.quotes()["peak_second"] == "1.00"


def test_the_page_in_the_wild_is_made_of_the_results_beside_the_report(table):
    page = table.PAGE.read_text(encoding="utf-8")
    assert page == table.page(page) and page.count("| hunspell |") == 4


def test_one_that_does_not_compile_is_told_and_leaves_nothing_that_would_be_taken_for_made(toy, tmp_path, capsys):
    (tmp_path / "source/toy/toy.cpp").write_text("int main() { return nothing; }\n")
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            toy()
        assert ended.value.code == 3 and "toy does not compile" in capsys.readouterr().out


def test_its_promises_come_out_of_its_results(table):
    cells = [one.cell for one in table.measured()]
    own = [claim for claim in claims.promises() if claim.experiment == "whole-programs"]
    assert len(own) == 7 and all(claims.decide(claim, cells).state != claims.NOT_RUN for claim in own)
