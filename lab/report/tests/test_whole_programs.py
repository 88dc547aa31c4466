"""The programs of the experiment whole-programs: what is switched in their sources, where those come from, and when one is made."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess

import pytest
from headroom_report.results import figures, published, reading
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
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for make in (programs.records, programs.documents, programs.targets):
            make(tmp_path / name)
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert {"records.json", "documents.yaml", "build.ninja"} < names
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


@pytest.fixture
def toy(programs, tmp_path, monkeypatch):
    """A program whose source is there already."""
    source = tmp_path / "source/toy"
    source.mkdir(parents=True)
    (source / "toy.cpp").write_text("#include <vector>\nint main() { return static_cast<int>(std::vector<int>(3).size()); }\n")
    monkeypatch.setitem(programs.PROGRAMS, "toy", programs.Program("toy", ("*.cpp",), lambda folder: ["an argument"]))
    compiler = shutil.which("c++") or pytest.skip("no compiler")
    return lambda: programs.made("toy", "std::vector", tmp_path, compiler, tmp_path / "none.a")


def test_a_program_is_made_once_and_anew_when_it_is_gone(toy, tmp_path):
    file, seconds = toy()
    assert subprocess.run([file]).returncode == 3 and seconds > 0
    made = file.stat().st_mtime_ns
    assert toy() == (file, seconds) and file.stat().st_mtime_ns == made
    shutil.rmtree(tmp_path / "toy-plain")
    assert toy()[0].stat().st_mtime_ns > made


def test_the_page_in_the_wild_is_made_of_the_results_beside_the_report(table):
    page = table.PAGE.read_text(encoding="utf-8")
    assert page == table.page(page) and page.count("| hunspell |") == 3


def test_one_that_does_not_compile_is_told_and_leaves_nothing_that_would_be_taken_for_made(toy, tmp_path, capsys):
    (tmp_path / "source/toy/toy.cpp").write_text("int main() { return nothing; }\n")
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            toy()
        assert ended.value.code == 3 and "toy does not compile" in capsys.readouterr().out


def test_its_promises_come_out_of_its_results(table):
    found = reading.read([table.RESULTS])
    (machine,) = found.machines
    cells = figures.cells(found.of_machine(machine))
    own = [claim for claim in claims.promises() if claim.experiment == "whole-programs"]
    assert len(own) == 5 and all(claims.decide(claim, cells).state != claims.NOT_RUN for claim in own)
