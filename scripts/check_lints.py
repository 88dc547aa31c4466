# SPDX-License-Identifier: MIT
"""Plants one fault for each lint into a small tree of its own, and sees that the lint finds it there and nothing before."""
import gzip
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEADER = "// A header of the tree.\n#pragma once\n"
CLEAN = {
    "include/headroom/pages.hpp": HEADER,
    "include/headroom/vector.hpp": HEADER + "#include <headroom/pages.hpp>\n",
    "src/system/linux.cpp": "#ifdef __linux__\n#endif\n",
    "src/range/upper.cpp": "// Upper.\nvoid upper() { lower(); }\n",
    "src/range/lower.cpp": "// Lower.\nvoid lower() {}\n",
    "examples/quick.cpp": "int main() {}\n",
    "README.md": "# Title\n\n[up](#title)\n\n<!-- file: examples/quick.cpp -->\n```cpp\nint main() {}\n```\n",
    "docs/conformance.md": "# Conformance\n",
    "docs/header_lines.json": '{"compiler": "g++ 12", "lines": {"headroom/pages.hpp": 10, "headroom/vector.hpp": 10}}',
    "tests/some_test.cpp": "TEST(suite, test) {}\n",
    "lab/experiments/one/measure.cpp": '#include "part.hpp"\n',
    "lab/experiments/one/part.hpp": HEADER,
    "lab/experiments/one/show.py": "from headroom_report.tables import table\n",
    "lab/report/headroom_report/__init__.py": "",
    "lab/report/headroom_report/results/__init__.py": "",
    "lab/report/headroom_report/results/words.py": "",
    "lab/report/headroom_report/tables/table.py": "from ..results import words\n",
    "lab/report/headroom_report/page/html.py": "from ..tables.table import Table\n",
    "CMakeLists.txt": "project(headroom VERSION 1.2.3)\n",
    "debian/changelog": "headroom (1.2.3-0upstream1) UNRELEASED; urgency=medium\n",
    "debian/control": "Package: libheadroom-file1.2\nDepends: libheadroom1.2\n",
    "REUSE.toml": 'SPDX-License-Identifier = "MIT"\n',
    "include/headroom/detail/language.hpp": HEADER + "".join(f"#define HEADROOM_VERSION_{part}\n" for part in ("MAJOR 1", "MINOR 2", "PATCH 3")),
}
SKIPPED = 77    # a tool that the lint needs is not here
FAULTS = [    # lint, file, text that replaces the file, what the lint must say
    ("licence", "src/range/upper.cpp", "void upper() { lower(); }\n", "upper.cpp:1: add"),
    ("licence", "src/range/lower.cpp", "// SPDX-License-" + "Identifier: GPL-3.0-only\n", "lower.cpp:1: add"),
    ("licence", "REUSE.toml", "version = 1\n", "REUSE.toml:1: says no licence"),
    ("platform", "src/range/cache.cpp", "#if defined(_WIN32)\n#endif\n", "src/range/cache.cpp:1: a platform conditional"),
    ("platform", "include/headroom/pages.hpp", HEADER + "#include <sys/mman.h>\n", "pages.hpp:3: a public header includes"),
    ("floors", "include/headroom/pages.hpp", HEADER + "#include <headroom/vector.hpp>\n", "pages.hpp:3: floor 1 reaches"),
    ("floors", "include/headroom/new.hpp", HEADER, "new.hpp:1: has no floor yet"),
    ("floors", "include/headroom/headroom.hpp", HEADER, "headroom.hpp:1: leaves out include/headroom/pages.hpp"),
    ("floors", "src/system/linux.cpp", '#include "../tests/some_test.cpp"\n', "linux.cpp:1: src/ includes tests/"),
    ("floors", "lab/engine/runner.cpp", '#include "experiments/one/part.hpp"\n', "runner.cpp:1: names the experiment one"),
    ("floors", "lab/report/headroom_report/results/words.py", "from ..tables.table import Table\n", "words.py:1: uses lab/report"),
    ("floors", "lab/report/headroom_report/results/words.py", "from . import words\n", "words.py:1: imports itself, by a circle"),
    ("floors", "lab/report/headroom_report/new.d/a.py", "", "a.py:1: stands in no room"),
    ("floors", "lab/experiments/one/show.py", "def f():\n    from headroom_report.page import html\n", "show.py:2: uses lab/report"),
    ("attributes", "include/headroom/pages.hpp", HEADER + "[[nodiscard, gnu::cold]] int f();\n", "pages.hpp:3: [[nodiscard, gnu:: has its name in"),
    ("attributes", "include/headroom/pages.hpp", HEADER + "struct s {\n    [[no_unique_address]] int i;\n};\n", "pages.hpp:4: no_unique_address has its name in"),
    ("attributes", "src/range/cache.cpp", "__attribute__((cold)) int f();\n", "cache.cpp:1: __attribute__ has its name in"),
    ("attributes", "include/headroom/vector.hpp", HEADER + "template <class T>\nclass v {\n    static constexpr layout x{sizeof(T),\n        4};\n};\n",
     "vector.hpp:5: MSVC needs a complete element type for x"),
    ("attributes", "include/headroom/vector.hpp", HEADER + "template <class T>\nclass v {\n    static constexpr int x = has_offset_() ? 1 : 0;\n};\n",
     "vector.hpp:5: MSVC needs a complete element type for x"),
    ("age", "docs/platforms.md", "<!-- made by scripts/platform_table.py -->\n| `gcc` | 2026-01-01 | | 9 |\n", "docs/platforms.md:2: a row without its date"),
    ("calls", "src/range/lower.cpp", "// Lower.\nvoid lower() { upper(); }\n", "lower.cpp:2: calls upper() of src/range/upper, which leads back"),
    ("comments", "src/range/upper.hpp", HEADER + "// See lower::sink().\nclass lower {\n    void rise();\n};\n", "upper.hpp:3: lower has no member sink()"),
    ("comments", "src/range/upper.hpp", HEADER + "// Implemented in gone.cpp.\n", "upper.hpp:3: there is no file gone.cpp"),
    ("comments", "src/range/upper.hpp", HEADER + "    // --- These require the lock.\n", "upper.hpp:3: a heading does not say who holds a lock"),
    ("declarations", "src/range/upper.hpp", HEADER + "void lower();\n", "upper.hpp:3: lower() is defined in src/range/lower"),
    ("figures", "README.md", "It takes <!--=D7.heap-->48<!--=--> ns.\n", "README.md:1: D7.heap: docs/figures.json has no such name"),
    ("figures", "README.md", "It takes <!--=D7.heap-->48 ns.\n", "README.md:1: a mark of a figure without its other half"),
    ("figures", "README.md", "Quoted: <!--=report.none-->48<!--=-->.\n\nIt takes 1.2 times as long.\n", "README.md:3: 1.2 times is no figure of the report"),
    ("figures", "docs/figures.json", '{"D7": {"figures": {"heap": "x"}}}', "nothing quotes D7.heap"),
    ("figures", "README.md", "It is <!--=report.age-x-->new<!--=-->.\n", "README.md:1: report.age-x: docs/report/results has no such set"),
    ("figures", "docs/report/index.html", "<html></html>\n", "index.html:1: was not made of the results beside it"),
    ("format", "src/range/cache.cpp", "int  x;\n", "src/range/cache.cpp:1: not as .clang-format asks"),
    ("headers", "include/headroom/pages.hpp", HEADER + "int x;\n" * 12, "pages.hpp:1: brings 12 preprocessed lines, a tenth more than the 10"),
    ("headers", "include/headroom/new.hpp", HEADER, "new.hpp:1: not in header_lines.json"),
    ("headers", "include/headroom/pages.hpp", HEADER + "#include <none>\n", "pages.hpp:1: cannot be preprocessed"),
    ("length", "src/range/cache.cpp", "//\n" * 501, "src/range/cache.cpp:501: 501 lines"),
    ("includes", "docs/pictures/includes.svg", "<svg/>\n", "includes.svg:1: not of these files"),
    ("wording", "src/range/cache.cpp", "// Whether a range is kept.\n", "cache.cpp:1: True if, or Returns: Whether a range is kept."),
    ("wording", "tests/some_test.cpp", "// (It may.)\n", "some_test.cpp:1: a sentence in parentheses: (It may.)"),
    ("wording", "src/range/cache.cpp", "void release_slowly();\n", "cache.cpp:1: release_slowly is no name of the field"),
    ("module", "modules/headroom.cppm", "using headroom::gone;\n", "headroom.cppm:1: exports headroom::gone, which no header"),
    ("outlines", "include/headroom/pages.hpp", HEADER + "#define ABI inline namespace x\nnamespace headroom {\nABI {\nclass arena {\n};\n}\n}\n", "pages.hpp:6: ctags finds no arena"),
    ("peers", "docs/report/results/x.jsonl.gz", gzip.compress(b'{"kind": "run", "outcome": "ok", "contender": "rvector"}\n'), "SettledVector was not measured"),
    ("paths", "README.md", "see /ho" + "me/somebody/x\n", "README.md:1: /ho" + "me/s"),
    ("presets", "README.md", "cmake --preset none\n", "README.md:1: there is no preset none"),
    ("qualified", "include/headroom/pages.hpp", HEADER + "void f(int);\nvoid g() { f(1); }\n", "pages.hpp:4: f(...) is not qualified"),
    ("qualified", "include/headroom/pages.hpp", HEADER + "template <class T> T f(T t) { return move(t); }\n", "pages.hpp:3: move(...)"),
    ("snippets", "README.md", "```cpp\nint x;\n```\n", "README.md:1: a block of cpp that nothing compiles"),
    ("snippets", "README.md", "<!-- file: examples/quick.cpp -->\n```cpp\nint x;\n```\n", "differs from examples/quick.cpp"),
    ("snippets", "README.md", "<!-- part of: examples/quick.cpp -->\n```cpp\nint x;\n```\n", "is not in examples/quick.cpp"),
    ("snippets", "README.md", "<!-- synopsis of: examples/quick.cpp -->\n```cpp\nint main(int);\n```\n", "not declared in"),
    ("requests", "include/headroom/vector.hpp", HEADER + "class vector {\npublic:\n    void widen(size_type count);\n};\n", "vector.hpp:5: no test asks vector::widen"),
    ("style", "tests/some_test.cpp", "TEST(Suite, Test) {}\n", "some_test.cpp:1: Suite.Test is not in small letters"),
    ("style", "include/headroom/pages.hpp", "#pragma once\n", "pages.hpp:1: opens without saying what it is"),
    ("style", "src/range/cache.cpp", "\tint x;\n", "src/range/cache.cpp:1: a tab or a trailing blank"),
    ("version", "include/headroom/detail/language.hpp", HEADER + "#define HEADROOM_VERSION_MAJOR 1\n", "HEADROOM_VERSION_* is not version 1.2.3"),
    ("version", "debian/changelog", "headroom (1.2.2-0upstream1) UNRELEASED; urgency=medium\n", "debian/changelog:1: not version 1.2.3"),
    ("version", "debian/control", "Package: libheadroom-file1.2\nDepends: libheadroom1.1\n", "debian/control:2: libheadroom1.1 is not named as the library"),
    ("version", "src/range/cache.cpp", "namespace headroom {\n", "cache.cpp:1: opens namespace headroom without `{ inline namespace v1_2 {`"),
    ("version", "src/range/cache.cpp", "namespace headroom { inline namespace v1_1 {\n", "cache.cpp:1: v1_1 is not this version"),
    ("conformance", "docs/conformance.md", "| `x` | `suite.none` | |\n", "docs/conformance.md:1: there is no test suite.none"),
    ("conformance", "docs/conformance.md", "| x | suites of y |\n|---|---|\n| x | `none` |\n", "docs/conformance.md:3: there is no suite none"),
    ("conformance", "docs/conformance.md", "| x | proof |\n|---|---|\n| `x` | `y` |\n", "docs/conformance.md:3: a row without a proof"),
]


def run(tree, lint):
    return subprocess.run([sys.executable, "-B", tree / f"scripts/lint_{lint}.py"], capture_output=True, text=True)


def git(tree, *words, given=None):
    return subprocess.run(["git", "-C", tree, *words], input=given, capture_output=True, text=True, check=True).stdout.strip()


def repository(tree, *scripts, changes):
    """Makes one with these scripts and so many commits that change src/, then one that does not. Returns the first commit."""
    (tree / "docs").mkdir(parents=True)
    (tree / "scripts").mkdir()
    for name in (*scripts, "sources.py", "history.py"):
        shutil.copy(HERE / name, tree / "scripts")
    git(tree, "init", "-q", "-b", "main")
    said = "".join(f"commit refs/heads/main\ncommitter a <a@a> {1767225600 + number} +0000\ndata 1\nx\nM 644 inline {file}\ndata {len(str(number))}\n{number}\n"
                   for number, file in enumerate(["src/a"] * changes + ["docs/a"]))    # in the year 2026's first minutes
    git(tree, "fast-import", "--quiet", given=said)
    return git(tree, "rev-list", "--reverse", "main").splitlines()[0]


def check_results_age(folder):
    """lint_figures in a repository: silent where results are 100 commits of the library old and said to be, not at 101, nor where the
    page is off by more than ten."""
    for number, (changes, said, status, expected) in enumerate(((101, 95, 0, ""), (102, 101, 1, "101 commits have changed"), (31, 15, 1, "and it is 30 commits"))):
        tree = folder / str(number)
        first = repository(tree, "lint_figures.py", "quoted_figures.py", changes=changes)
        shutil.copytree(HERE.parent / "lab/report/headroom_report/results", tree / "lab/report/headroom_report/results", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HERE.parent / "lab/report/headroom_report/__init__.py", tree / "lab/report/headroom_report")
        (tree / "docs/report/results").mkdir(parents=True)
        lines = (f'{{"v":1,"kind":"machine","id":"m","cpu":"x","commit":"{first}","library":"y"}}\n'
                 '{"v":1,"kind":"run","machine":"m","experiment":"e","contender":"c","parameters":{},"outcome":"ok","round":0,"metrics":{}}\n')
        (tree / "docs/report/results/x.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
        (tree / "README.md").write_text(f"<!--=report.age-->of the library as it was {said} commits ago<!--=-->\n")
        ran = run(tree, "figures")
        if ran.returncode != status or expected not in ran.stdout:
            failures.append(f"lint_figures: {changes} commits, said {said}: wanted {status} and \"{expected}\", got {ran.returncode}:\n{ran.stdout}{ran.stderr}")


def check_age(tree):
    """lint_age in a repository: silent at 200 commits that change src/, not at 201, and by date if it does not know the commit."""
    first = repository(tree, "lint_age.py", changes=201)
    for commit, date, status, expected in ((first, "2026-01-01", 0, ""), (git(tree, "rev-parse", "main"), "2020-01-01", 0, ""),
                                           ("0" * 40, "2026-01-01", 1, ": 201 commits have changed"), ("0" * 40, "2026-01-02", 0, "")):
        (tree / "docs/platforms.md").write_text(f"<!-- made by scripts/platform_table.py -->\n| `gcc` | {date} | `{commit}` | 9 |\n")
        ran = run(tree, "age")
        if ran.returncode != status or expected not in ran.stdout:
            failures.append(f"lint_age: {date}, {commit}: wanted {status} and \"{expected}\", got {ran.returncode}:\n{ran.stdout}{ran.stderr}")


failures = []
lints = {path.stem.removeprefix("lint_") for path in HERE.glob("lint_*.py")}
for lint in sorted(lints - {fault[0] for fault in FAULTS}):
    failures.append(f"lint_{lint}: no fault is planted for it")
with tempfile.TemporaryDirectory() as folder:
    for number, (lint, name, text, expected) in enumerate(FAULTS):
        tree = pathlib.Path(folder) / str(number)
        shutil.copytree(HERE, tree / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        for beside in ("CMakePresets.json", ".clang-format"):
            shutil.copy(HERE.parent / beside, tree)
        for path, content in CLEAN.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            licensed = lint == "licence" and path.rsplit(".")[-1] in ("cpp", "hpp", "py", "txt")
            (tree / path).write_text(("// SPDX-License-" + "Identifier: MIT\n" if licensed else "") + content)
        clean = run(tree, lint)
        if clean.returncode == SKIPPED:
            continue
        if clean.returncode != 0:
            failures.append(f"lint_{lint}: finds fault with a clean tree:\n{clean.stdout}{clean.stderr}")
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        faulty = run(tree, lint)
        if faulty.returncode != 1 or expected not in faulty.stdout:
            failures.append(f"lint_{lint}: wanted \"{expected}\", got {faulty.returncode}:\n{faulty.stdout}{faulty.stderr}")
    if shutil.which("git"):
        check_age(pathlib.Path(folder) / "repository")
        check_results_age(pathlib.Path(folder) / "results")
print("\n".join(failures))
sys.exit(1 if failures else 0)
