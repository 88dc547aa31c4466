# SPDX-License-Identifier: MIT
"""“Choose yours”: every answer is of the cell that was asked about, safe for the task, and comes with code that compiles and runs."""

import pathlib
import re
import shutil
import subprocess

import pytest
from headroom_report.page import chooser, code
from headroom_report.page.chooser import Setting
from headroom_report.results import reading as results
from headroom_report.results.figures import cells

import samples

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def choices(published):
    return chooser.Choices(published.machines[0].cells)


def test_who_must_not_move_is_answered_with_what_does_not(choices):
    assert not chooser.stays(choices.answer(Setting("build", "int", 3)).name)
    names = {choices.answer(setting).name for setting in choices.settings() if setting.stay}
    assert names and all(chooser.stays(name) for name in names)


def test_nothing_that_never_frees_is_answered_but_where_all_dies_together(choices):
    names = {together: {choices.answer(one).name for one in choices.settings() if one.together == together} for together in (False, True)}
    assert not any(chooser.frees_nothing(name) or "winked out" in name for name in names[False])
    assert any(chooser.frees_nothing(name) for name in names[True])
    beside = choices.answer(Setting("structures", "vector<unordered_set<int>>", 3)).beside
    assert any("only where all dies together: " in text and "headroom::" in text for text in beside)


def test_nobody_is_advised_to_take_what_checks_nothing_or_cannot_be_had(choices):
    for setting in choices.settings():
        answer = choices.answer(setting)
        assert chooser.UNSAFE not in answer.name and answer.code, setting
        assert not answer.name.startswith(("SettledVector", "floor/", "folly::", "mimalloc heap", "BloombergLP::"))
    assert any("SettledVector" in text for setting in choices.settings() for text in choices.answer(setting).beside)


def test_an_allocator_to_preload_is_ranked_where_it_was_measured_and_else_is_said_not_to_have_been(choices):
    assert " under " in choices.answer(Setting("everyday-push", "string40", 7)).name
    assert "No allocator to preload was measured in this cell." in choices.answer(Setting("build", "int", 7)).beside


def test_what_cannot_be_told_from_the_least_and_asks_less_is_the_answer(tmp_path):
    def answer(plain):
        point = {"workload": "push", "element": "int", "elements": 1000}
        times = {"std::vector": (plain, plain * 1.1, plain * 1.2), "std::vector under jemalloc": (0.99, 1.0, 1.1)}
        runs = [samples.run("everyday", name, point, {"time": time}, number) for name, own in times.items() for number, time in enumerate(own)]
        path = samples.write(tmp_path / "some.jsonl", [samples.MACHINE, *runs])
        return chooser.Choices(cells(results.read([path]).runs)).answer(Setting("everyday-push", "int", 3))

    assert answer(1.0).name == "std::vector" and "Not told apart from it: std::vector under jemalloc." in answer(1.0).sentences
    assert answer(2.0).name == "std::vector under jemalloc"


def test_an_allocator_is_chosen_for_a_container_by_its_contents_and_size(choices):
    answer = choices.answer(Setting("structures", "unordered_set<string>", 3))
    assert answer.cell == "From the cell unordered_set<string>, 2¹⁰ elements."
    assert "pool" in answer.name


def test_several_threads_are_answered_from_cells_with_several(choices):
    asks = {ask["id"]: ask for ask in choices.asks()}
    assert {"4 threads, a resource each", "4 threads, one resource for all"} <= set(asks["threads"]["elements"])
    assert not asks["threads"]["sized"] and not any(name.startswith("1 thread,") for name in asks["threads"]["elements"])


def test_a_size_that_was_not_measured_is_said_not_to_be(choices):
    far = {power: choices.answer(Setting("build", "int", power)).cell for power in (0, 6, 10)}
    assert "the smallest" in far[0] and far[6] == "From the cell 10⁶ int, -O2." and "the largest" in far[10]


def test_whether_it_is_safe_for_threads_is_always_said(choices):
    assert all("hread" in choices.answer(setting).safe for setting in choices.settings())
    assert code.safety("headroom::multipool_resource").startswith("Not safe")
    assert code.safety("headroom::synchronized_multipool_resource").startswith("Several threads may")
    assert code.safety("std::pmr::unsynchronized_pool_resource").startswith("Not safe")
    assert code.safety("headroom::settled_vector").startswith("Not safe")


def test_every_element_that_the_lab_measures_for_a_choice_has_its_spelling(choices):
    source = (ROOT / "lab/experiments/everyday/measure.cpp").read_text(encoding="utf-8")
    names = set(re.findall(r'"(.*?)"', re.search(r"const char\* element : \{(.*?)\}\)", source)[1]))
    assert "pair<int,string>" in names and names | {"int", "unique_ptr<int>"} == set(code.SPELT)
    assert code.text("headroom::vector", "something new", 10, False) == ""


def test_an_allocator_to_preload_is_said_beside_the_code():
    shown = code.text("std::vector under jemalloc", "int", 10, False)
    assert "LD_PRELOAD=jemalloc" in shown and shown.endswith("std::vector<int> v;")
    assert "GLIBC_TUNABLES" in code.text("headroom::settled_vector under hugetlb", "int", 1e10, False)
    assert code.text("gch::small_vector under jemalloc", "int", 10, False) == ""


def test_code_for_more_elements_than_the_default_holds_says_how_many(choices):
    assert "max_elements{10000000000}" in choices.answer(Setting("build", "int", 10, stay=True)).code
    assert "max_elements" not in choices.answer(Setting("build", "int", 9, stay=True)).code


def test_code_is_of_the_structure_that_was_asked_about(choices):
    for setting in choices.settings():
        if setting.matter == "structures":
            shape = re.sub(r"std::|, (?:hash|std::hash<int>), std::equal_to<>|, allocator<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "", re.search("using elements = (.*);", choices.answer(setting).code)[1])
            assert shape.replace("equal_to<>", "").replace("text", "string").replace(", hash", "").replace(", >", ">") == setting.element


INCLUDES = {
    "plf::": "<plf_colony.h>",
    "boost::container::vector": "<boost/container/vector.hpp>",
    "boost::container::stable_vector": "<boost/container/stable_vector.hpp>",
    "boost::container::devector": "<boost/container/devector.hpp>",
    "boost::container::pmr::": "<boost/container/pmr/polymorphic_allocator.hpp>",
    "absl::InlinedVector": "<absl/container/inlined_vector.h>",
    "tbb::": "<tbb/concurrent_vector.h>",
}
BOOST = "#include <boost/container/pmr/monotonic_buffer_resource.hpp>\n#include <boost/container/pmr/synchronized_pool_resource.hpp>\n#include <boost/container/pmr/unsynchronized_pool_resource.hpp>\n"
START = """#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>
#include <headroom/headroom.hpp>
template <class V> bool takes(V& v, double most) {
    if constexpr (requires { *v; }) return takes(*v, most);
    else {
        for (int i = 0; i < 300; ++i) {
            if constexpr (requires { v.emplace_back(); }) v.emplace_back();
            else if constexpr (std::is_constructible_v<typename V::value_type, int, char>) v.emplace(i, 'x');
            else if constexpr (std::is_constructible_v<typename V::value_type, int>) v.emplace(i);
            else v.insert(typename V::value_type{});
        }
        if constexpr (requires { v.max_size(); v.emplace_back(); }) return v.size() == 300 && static_cast<double>(v.max_size()) >= most;
        else return !v.empty();
    }
}
"""


COMPILER = shutil.which("clang++-19") or shutil.which("g++")


@pytest.mark.skipif(COMPILER is None, reason="no compiler")
def test_every_code_that_can_be_answered_compiles_runs_and_holds_that_many(choices, tmp_path):
    """Every setting's answer, in one program; what needs a library that is not here is left out."""
    largest = {}  # the largest size of each text is the one it must hold
    for setting in choices.settings():
        text = choices.answer(setting).code
        largest[text] = max(largest.get(text, 0), 10**setting.power)
    assert len(largest) > 50
    program, calls, includes = [], [], set()
    for number, (text, most) in enumerate((text, most) for text, most in largest.items() if text):
        needed = {header for start, header in INCLUDES.items() if start in text}
        if not all(pathlib.Path("/usr/include", header[1:-1]).exists() for header in needed):
            continue
        includes |= needed
        before, _, body = text.rpartition("\n\n")
        most = 0 if "using elements" in text else most
        program.append(f"namespace in{number} {{\n{before}\nstatic bool answer() {{\n{body}\nreturn takes(v, {most}.0);\n}}\n}}")
        calls.append(f'if (!in{number}::answer()) {{ std::puts("{number}"); return 1; }}')
    assert len(calls) > 40
    start = "".join(f"#include {header}\n" for header in sorted(includes)) + (BOOST if INCLUDES["boost::container::pmr::"] in includes else "")
    (tmp_path / "answers.cpp").write_text(start + START + "\n".join(program) + "\nint main() {\n" + "\n".join(calls) + "\n}\n")
    system = ("posix.cpp", "windows.cpp", "files_windows.cpp")  # of other systems
    library = sorted(path for path in (ROOT / "src").rglob("*.cpp") if path.name not in system)
    (tmp_path / "library.cpp").write_text("".join(f'#include "{path}"\n' for path in library))  # as one source it takes a tenth of the time
    built = subprocess.run(
        [COMPILER, "-std=c++20", "-O0", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", str(tmp_path / "answers.cpp"), str(tmp_path / "library.cpp"), "-pthread"]
        + ["-o", str(tmp_path / "answers")]
        + (["-ltbb"] if "<tbb/concurrent_vector.h>" in includes else []) + (["-lboost_container"] if BOOST in start else []),
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr[:3000]
    ran = subprocess.run([str(tmp_path / "answers")], capture_output=True, text=True)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
