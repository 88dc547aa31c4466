# SPDX-License-Identifier: MIT
"""Adds an experiment to a copy of the tree as one folder, and nothing else. It must build, run, and be in the report with its
section, its claim's verdict, its picture and the document's table.

python lab_stranger_test.py SOURCE_FOLDER CXX_COMPILER PYTHON
"""
import base64
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

SOURCE, CXX, PYTHON = sys.argv[1:]
TOY = {
    "measure.cpp": """// Question: how many bytes do n ints take?
//
// Source: a test's own.
#include <memory_resource>
#include <stdexcept>

#include "engine/experiment.hpp"
#include "peers/std_vector.hpp"

namespace headroom::lab {
namespace {

// As some libraries do that an experiment brings along. It must not be noticed by anything that is measured.
const auto* const before = std::pmr::set_default_resource(std::pmr::null_memory_resource());

metrics count(const parameters& point) {
    if (std::pmr::get_default_resource() != before) throw std::runtime_error("measured over somebody else's memory resource");
    return {{"bytes", {"B", {4.0 * static_cast<double>(point.number("elements"))}}}};
}

experiment toy() {
    return {.id = "toy",
            .question = "How many bytes do n ints take?",
            .source = "A toy document",
            .contenders = {{"std::vector", "1", "", count}, {"headroom::vector", "1", "", count}},
            .grid =
                [](grid_size, const std::string&) {
                    std::vector<configuration> result(2);
                    result[0].parameters = {{"elements", std::int64_t{1000}}};
                    result[1].parameters = {{"elements", std::int64_t{2000}}};
                    return result;
                },
            .headline = "bytes"};
}

const registered_experiment registered(toy);

}  // namespace
}  // namespace headroom::lab
""",
    "show.py": '''"""A toy."""

from headroom_report.pictures.values import bars
from headroom_report.results.catalogue import Contest, Experiment

EXPERIMENT = Experiment(
    title="A toy experiment",
    question="How many bytes do n ints take, asked by a stranger?",
    document="A toy document",
    method="They are multiplied.",
    contests=(Contest("bytes", "bytes of the ints"),),
    pictures=lambda cells: bars(cells, "toy-bars", "Bytes of ints", metric="bytes"),
)
''',
    "claims.py": '''"""What is claimed of the toy."""

from headroom_report.verdicts.claims import claim


@claim("A toy document", "An int has at most four bytes, wherever it stands.", "page 1", "four")
def toy_bytes(cells):
    return cells.ratio("bytes", "headroom::vector", "std::vector") <= 1
''',
    "published.json": """{
 "id": "toy_table",
 "source": {"document": "A toy document", "place": "table 1"},
 "machines": {"the author's": "an abacus"},
 "notes": [],
 "columns": ["elements", "bytes"],
 "rows": [[1000, 4000]]
}
""",
}


def run(*words, where=None, environment=None):
    done = subprocess.run(words, cwd=where, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    tree = pathlib.Path(folder) / "tree"
    made = shutil.ignore_patterns("__pycache__")
    for part in ("cmake", "include", "src", "lab", "tools"):
        shutil.copytree(pathlib.Path(SOURCE) / part, tree / part, ignore=made)
    shutil.copy(pathlib.Path(SOURCE) / "CMakeLists.txt", tree)
    before = {path for path in (tree / "lab").rglob("*") if path.is_file()}
    toy = tree / "lab/experiments/toy"
    toy.mkdir()
    for name, text in TOY.items():
        (toy / name).write_text(text, encoding="utf-8")
    assert {path.parent for path in (tree / "lab").rglob("*") if path.is_file() and path not in before} == {toy}

    # Builds only the toy and this verb; the others take minutes. ccache could confuse two copies of the tree.
    environment = {**os.environ, "CCACHE_BASEDIR": folder}
    run("cmake", "-G", "Ninja", "-S", tree, "-B", tree / "build", f"-DCMAKE_CXX_COMPILER={CXX}", "-DCMAKE_CXX_FLAGS=-O0",
        "-DHEADROOM_TESTS=OFF", "-DHEADROOM_UNITY=ON", "-DHEADROOM_LAB_ONLY=toy", "-DHEADROOM_TOOLS_ONLY=lab", environment=environment)
    run("cmake", "--build", tree / "build", "--target", "headroom_command", environment=environment)
    headroom = tree / "build/bin/headroom"
    environment["HEADROOM_PYTHON"] = PYTHON

    listed = run(headroom, "lab", "list", "--quick")
    assert "toy" in listed and "throughput" not in listed, listed
    results = pathlib.Path(folder) / "results.jsonl"
    run(headroom, "lab", "run", "--quick", "--rounds", "3", "--out", results)
    page = pathlib.Path(folder) / "report.html"
    text = run(headroom, "lab", "report", results, "--text=all", "--out", page, environment=environment)
    html = page.read_text(encoding="utf-8")

    claim = next((line for line in text.splitlines() if "An int has at most four bytes" in line), "")
    assert "holds" in claim, f"no verdict on the toy's claim:\n{text}"
    assert "A toy experiment: How many bytes do n ints take, asked by a stranger?" in text, text
    section = re.search(r'<(section|details)\b[^>]*(?:id|aria-labelledby)="toy-0".*?</\1>', html, re.S)
    assert section and "asked by a stranger" in section[0], "the page has no section of the toy's"
    packed = zlib.decompress(base64.b64decode(re.search(r'id="packed">(.*?)</script>', html, re.S)[1])).decode()
    assert 'id="chart-0-toy-bars"' in html and '"chart-0-toy-bars":{' in packed, "the page has no picture of the toy's"
    assert "As published: A toy document, table 1" in html, "the document's table is not beside"
    assert re.search(r"An int has at most four bytes.{0,400}holds", html, re.S), "the page has no verdict on the claim"
print("ok")
