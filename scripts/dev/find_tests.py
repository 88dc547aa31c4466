"""Which tests a name means: python3 find_tests.py NAME... | --list

Reads the sources alone, so that it can answer before anything is configured or built. Each name is looked for among rooms
(folders of tests/), test files, other tests of CMake's, lints, Python tests, and last the tests that stand in the files. `*`
stands for anything. Prints for scripts/dev/named.sh one word, a tab and what belongs to it on each line:

  found TEXT            how a name was found
  preset PRESET         what follows is of this preset
  target TARGET         to be built
  program NAME          a test of ctest's
  filter FILTER         only these tests of GoogleTest's, in all the programs named
  folder FOLDER         all tests that ctest knows in this folder of the build
  lint PATH             a lint
  elsewhere TARGET      of scripts/elsewhere.py, or all
  pytest NAME           what pytest is to run

A name that means nothing is refused with those that come near, and nothing else is printed.
"""
import difflib
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
TEST = re.compile(r"^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
PYTHON = {"report": "lab/report", "python": "python"}    # group: folder, run by pytest
PRESETS = {"lab": "tools", "slow": "slow", "tools": "tools"}    # label: where such files are built; all others in dev
NEEDS = {"weather": ["examples/all"], "unloaded": [], "old_language": [], "layouts": [], "natvis": []}    # folder: targets beside its own


def text(path):
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


class File:
    """A test file, by what its name and its first lines say."""

    def __init__(self, path):
        self.path, self.name, self.room = path, path.stem, path.parent.name
        labels = re.search(r"^// Labels: (.*)", text(path), re.M)
        self.labels = re.findall(r"[a-z-]+", labels[1]) if labels else []
        self.preset = next((preset for label, preset in PRESETS.items() if label in self.labels), "dev")

    def tests(self):
        """(suite, test) of the file and of what it includes from tests/."""
        found, seen, left = [], set(), [self.path]
        while left:
            path = left.pop()
            if path in seen:
                continue
            seen.add(path)
            content = text(path)
            found += TEST.findall(content)
            for name in INCLUDE.findall(content):
                left += [where for where in (TESTS / name, path.parent / name) if where.exists()]
        return found


FILES = [File(path) for path in sorted(TESTS.glob("*/*_test.cpp"))]
ROOMS = sorted({file.room for file in FILES})
LINTS = {path.stem: path for path in sorted((ROOT / "scripts").glob("lint_*.py"))}
FOLDERS = {path.parent.name: path.parent for path in sorted(TESTS.glob("*/*/CMakeLists.txt")) if path.parent.name != "elsewhere"}
ELSEWHERE = ["elsewhere"] + [f"elsewhere.{name}" for made in re.findall(r"^(?:ZIG|TARGETS) = \[(.*?)\]", text(ROOT / "scripts/elsewhere.py"), re.M | re.S)
                             for name in re.findall(r'"([\w-]+)"', made)]
EXAMPLES = {"example." + str(path.relative_to(ROOT / "examples").with_suffix("")).replace("/", "_"): path
            for path in sorted((ROOT / "examples").glob("**/*.cpp"))}
PYTESTS = {path.stem: path for folder in PYTHON.values() for path in sorted((ROOT / folder).glob("**/test_*.py"))}


def consumers():
    content = text(TESTS / "whole/consumer/CMakeLists.txt")
    kinds = re.findall(r"^ *(?:consumer\(|add_test\(NAME consumer\.)([a-z][\w:]*)", content, re.M)
    for words in re.findall(r"foreach\(kind ([\w ]+)\)", content):
        kinds += words.split()
    return ["consumer." + kind.replace(":", ".") for kind in kinds]


def of_files(files):
    """What builds and runs whole files, and how many there are."""
    steps = []
    for preset in ("dev", *sorted({*PRESETS.values()})):
        chosen = [file for file in files if file.preset == preset]
        if chosen:
            steps.append(("preset", preset))
            steps += [("target", file.name) for file in chosen] + [("program", file.name) for file in chosen]
    return steps


def of_folder(name):
    folder = FOLDERS[name].relative_to(ROOT)
    preset = "release" if name == "size" else "dev"    # which looks at what the linker makes of optimised objects
    return [("preset", preset), *(("target", target) for target in [f"{folder}/all", *NEEDS.get(name, [])]), ("folder", str(folder))]


def matching(word, names):
    """The names that are the word, or that a pattern means."""
    return fnmatch.filter(names, word) if "*" in word else [name for name in names if name == word]


def in_files(word):
    """Files and filter for a suite, a test, or SUITE.TEST as GoogleTest prints it."""
    suite, _, test = word.partition(".")
    suite, test = (re.sub(r"^\w+/(?=[A-Za-z])|/\d+$", "", part) for part in (suite, test))
    found, what = [], set()
    for file in FILES:
        for one, other in file.tests():
            if test and matching(suite, [one]) and matching(test, [other]):
                what.add("test")
            elif not test and matching(suite, [one]):
                what.add("suite")
            elif not test and matching(suite, [other]):
                what.add("test")
            else:
                continue
            if file not in found:
                found.append(file)
    filters = []
    if test:
        filters += [f"{begin}{suite}{middle}.{test}{end}" for begin in ("", "*/") for middle in ("", "/*") for end in ("", "/*")]
    if "suite" in what:
        filters += [f"{suite}.*", f"*/{suite}.*", f"{suite}/*.*", f"*/{suite}/*.*"]
    if not test and "test" in what:
        filters += [f"*.{suite}", f"*.{suite}/*"]
    return found, sorted(what), ":".join(filters)


def in_python(word):
    """What pytest is to run for a function's name."""
    return [f"{path.relative_to(ROOT)}::{name}" for path in PYTESTS.values()
            for name in matching(word, re.findall(r"^def (test_\w+)", text(path), re.M))]


def counted(number, what):
    return f"{number} {what}" + ("" if number == 1 else "s")


def look_up(word):
    """[(step, argument)] for one name; nothing where it means nothing."""
    path = pathlib.Path(word.rstrip("/"))
    short = path.stem if path.suffix in (".cpp", ".py") else path.name
    if matching(word, ROOMS) or str(path.parent) == "tests" and path.name in ROOMS:
        rooms = matching(word, ROOMS) or [path.name]
        files = [file for file in FILES if file.room in rooms and ("slow" not in file.labels)]
        return [("found", f"{word}: {', '.join(f'the room tests/{room}' for room in rooms)}, {counted(len(files), 'file')}"), *of_files(files)]
    files = [file for file in FILES if matching(short, [file.name, file.name.removesuffix("_test")])]
    if files:
        return [("found", f"{word}: {', '.join(str(file.path.relative_to(ROOT)) for file in files)}"), *of_files(files)]
    lints = list(LINTS) if word == "lints" else [name for name in LINTS if matching(short, [name, name.removeprefix("lint_")])]
    if lints:
        return [("found", f"{word}: {counted(len(lints), 'lint')} of scripts/"), *(("lint", str(LINTS[name].relative_to(ROOT))) for name in lints)]
    elsewhere = matching(word, ELSEWHERE)
    if elsewhere:
        targets = ["all"] if "elsewhere" in elsewhere else [name.removeprefix("elsewhere.") for name in elsewhere]
        return [("found", f"{word}: {counted(len(targets), 'target') if targets != ['all'] else 'all targets'} of scripts/elsewhere.py"),
                *(("elsewhere", target) for target in targets)]
    if word in PYTHON:
        return [("found", f"{word}: the Python tests in {PYTHON[word]}/"), ("pytest", PYTHON[word])]
    python = [str(PYTESTS[name].relative_to(ROOT)) for name in matching(short, PYTESTS)] or in_python(word)
    if python:
        return [("found", f"{word}: {', '.join(python)}"), *(("pytest", name) for name in python)]
    if word == "examples":
        return [("found", f"{word}: {counted(len(EXAMPLES), 'program')} of examples/"), ("preset", "dev"), ("target", "examples/all"), ("folder", "examples")]
    if short in FOLDERS:
        return [("found", f"{word}: what {FOLDERS[short].relative_to(ROOT)}/CMakeLists.txt adds"), *of_folder(short)]
    examples = matching(word, EXAMPLES)
    if examples:
        return [("found", f"{word}: {counted(len(examples), 'example')}"), ("preset", "dev"),
                *(("target", name.replace("example.", "example_")) for name in examples), *(("program", name) for name in examples)]
    strangers = matching(word, consumers())
    if strangers:
        return [("found", f"{word}: {counted(len(strangers), 'project')} of tests/whole/consumer"), ("preset", "dev"),
                *(("program", name) for name in strangers)]
    files, what, filters = in_files(word)
    if files:
        where = ", ".join(file.name for file in files[:4]) + (f" and {len(files) - 4} more" if len(files) > 4 else "")
        return [("found", f"{word}: a {' and a '.join(what)} in {where}"), *of_files(files), ("filter", filters)]
    return []


def known():
    """Every name that is understood, but for the tests inside the files."""
    names = [*ROOMS, *(file.name for file in FILES), *LINTS, "lints", *ELSEWHERE, *PYTHON, *PYTESTS, "examples", *EXAMPLES, *FOLDERS, *consumers()]
    return list(dict.fromkeys(names))


def near(word):
    inside = {name for file in FILES for pair in file.tests() for name in (*pair, ".".join(pair))}
    names = known() + sorted(inside)
    within = [name for name in names if len(word) > 3 and word.lower() in name.lower()]
    return list(dict.fromkeys(difflib.get_close_matches(word, names, 4, .7) + within))[:6]


def print_list():
    def group(title, names):
        print(f"{title}\n    {' '.join(names)}" if names else title)
    for room in ROOMS:
        group(f"room {room}", [file.name for file in FILES if file.room == room])
    group("lints", LINTS)
    group("other systems and compilers", ELSEWHERE)
    for name, folder in PYTHON.items():
        group(name, [test for test, path in PYTESTS.items() if path.is_relative_to(ROOT / folder)])
    group("examples", EXAMPLES)
    group("folders with tests of their own", FOLDERS)
    group("consumer", consumers())
    print("and every suite and test in the files of the rooms, as SUITE, TEST or SUITE.TEST; * stands for anything")


def main(words):
    if words == ["--list"]:
        print_list()
        return 0
    plans = [(word, look_up(word)) for word in words]
    unknown = [word for word, plan in plans if not plan]
    for word in unknown:
        close = near(word)
        print(f"dev: there is no test \"{word}\"" + (f". Near it: {', '.join(close)}" if close else ""), file=sys.stderr)
    if unknown:
        print("(./dev test --list says what there is.)", file=sys.stderr)
        return 2
    for _, plan in plans:
        for step, argument in plan:
            print(f"{step}\t{argument}")
        print("end\t")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
