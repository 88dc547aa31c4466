"""Makes programs of Debian's sources, as they are and with their vectors replaced, and inputs for them.

programs.py PROGRAM CONTAINER --folder FOLDER --compiler CXX --library LIBHEADROOM.a

Downloads, unpacks and compiles what is not in FOLDER yet, and says how the program is called, in lines of two words: the file,
the seconds that it took to compile, each argument, and the file that it writes, if it is that one's length that is the same
in every run, not what is printed. Where something is missing that this needs, it prints the reason, and its exit code is 3.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, NoReturn

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parents[2] / "include"
CONTAINERS = {"std::vector": "plain", "headroom::vector": "headroom"}
FLAGS = ["-std=c++20", "-O2", "-falign-loops=64", "-DNDEBUG", "-w"]
SUFFIXES = {".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".inl"}


@dataclass(frozen=True)
class Program:
    package: str  # Debian's source package
    sources: tuple[str, ...]  # patterns, of the files that are compiled
    arguments: Callable[[Path], list[str]]  # makes the input in that folder, and says with what the program is called
    leave_out: str = r"$^"  # of their names
    include: tuple[str, ...] = (".",)
    flags: tuple[str, ...] = ()
    replace: tuple[tuple[str, str, str], ...] = ()  # with Headroom: in that file, this text by that
    result: str = ""  # see above


def clauses(folder: Path) -> list[str]:
    """Random clauses of three, few enough that there is a solution."""
    some, variables, count = random.Random(1), 200_000, 600_000
    with open(folder / "clauses.cnf", "w") as file:
        file.write(f"p cnf {variables} {count}\n")
        for _ in range(count):
            file.write(" ".join(str(some.choice((1, -1)) * one) for one in some.sample(range(1, variables + 1), 3)) + " 0\n")
    return ["-q", f"{folder}/clauses.cnf"]


def word(some: random.Random) -> str:
    return "".join(some.choice("bcdfghklmnprstvz") + some.choice("aeiou") for _ in range(some.randint(2, 5)))


def labelled_lines(folder: Path) -> list[str]:
    some = random.Random(2)
    words = [word(some) for _ in range(60_000)]
    with open(folder / "lines.txt", "w") as file:
        for _ in range(60_000):
            line = (words[int(len(words) * some.random() ** 3)] for _ in range(15))
            file.write(f"__label__{some.randrange(50)} {' '.join(line)}\n")
    return ["supervised", "-input", f"{folder}/lines.txt", "-output", f"{folder}/model", "-thread", "2", "-dim", "20", "-epoch", "2",
            "-wordNgrams", "2", "-bucket", "200000", "-verbose", "0"]


def dictionary(folder: Path) -> list[str]:
    some = random.Random(3)
    words = sorted({word(some) for _ in range(200_000)})
    endings = "".join(f"SFX {flag} Y 2\nSFX {flag} 0 {flag.lower()}s .\nSFX {flag} a {flag.lower()}er a\n" for flag in "ABCD")
    (folder / "words.aff").write_text(f"SET UTF-8\nTRY aeioubcdfghklmnprstvz\n{endings}")
    (folder / "words.dic").write_text(f"{len(words)}\n" + "".join(f"{one}/{some.choice('ABCD')}\n" for one in words))
    asked = [some.choice(words) for _ in range(60_000)] + [word(some) + "q" for _ in range(25)]
    (folder / "asked.txt").write_text("\n".join(asked) + "\n")
    return [f"{folder}/{name}" for name in ("words.aff", "words.dic", "asked.txt")]


def records(folder: Path) -> list[str]:
    some = random.Random(4)
    with open(folder / "records.json", "w") as file:
        file.write("[\n")
        for number in range(60_000):
            tags = ", ".join(f'"{word(some)}"' for _ in range(some.randrange(6)))
            file.write(f'{{"id": {number}, "name": "{word(some)} {word(some)}", "tags": [{tags}], '
                       f'"at": {{"x": {some.random():.6f}, "y": {some.random():.6f}}}, "open": true}},\n')
        file.write('{"id": -1}\n]\n')
    return [f"{folder}/records.json"]


def targets(folder: Path) -> list[str]:
    some = random.Random(5)
    headers = [f"h{number}.hpp" for number in range(300)]
    for one in [*headers, "main.cpp"]:
        (folder / one).touch()
    with open(folder / "build.ninja", "w") as file:
        file.write("rule cxx\n  command = c++ -O2 -c $in -o $out -D$name\n  description = $out\n"
                   "rule link\n  command = c++ $in -o $out\n\n")
        for program in range(1000):
            objects = [f"part{program}/file{number}.o" for number in range(30)]
            for one in objects:
                file.write(f"build {one}: cxx main.cpp | {' '.join(some.sample(headers, 8))}\n  name = {word(some)}\n")
            file.write(f"build program{program}: link {' '.join(objects)}\n")
    return ["-n", "-C", str(folder)]


def polygons(folder: Path) -> list[str]:
    return ["400", "60"]


def documents(folder: Path) -> list[str]:
    some = random.Random(6)
    with open(folder / "documents.yaml", "w") as file:
        for number in range(9000):
            file.write(f"- id: {number}\n  name: {word(some)} {word(some)}\n  tags: [{', '.join(word(some) for _ in range(4))}]\n"
                       f"  at:\n    x: {some.random():.6f}\n    y: {some.random():.6f}\n")
    return [f"{folder}/documents.yaml"]


PROGRAMS = {
    "cadical": Program("cadical", ("src/*.cpp",), clauses, leave_out=r"mobical|ipasir", flags=("-DNBUILD",)),
    "fasttext": Program("fasttext", ("src/*.cc",), labelled_lines, flags=("-pthread",), result="model.bin"),
    "hunspell": Program("hunspell", ("src/hunspell/*.cxx", "src/tools/example.cxx"), dictionary, include=("src/hunspell",),
                        flags=("-DHUNSPELL_STATIC",)),
    "jsoncpp": Program(
        "libjsoncpp", ("src/lib_json/*.cpp", HERE.name + "/programs/json.cpp"), records, include=("include",),
        replace=(("include/json/value.h", "std::map<CZString, Value>",
                  "std::map<CZString, Value, std::less<CZString>, pooled<std::pair<const CZString, Value>>>"),)),
    "ninja": Program("ninja-build", ("src/*.cc",), targets,
                     leave_out=r"_test\.cc|_perftest|win32|\.in\.cc|browse|bench|/test\.cc", include=()),
    "polyclipping": Program("libpolyclipping", ("cpp/clipper.cpp", HERE.name + "/programs/polygons.cpp"), polygons, include=("cpp",)),
    "yaml-cpp": Program("yaml-cpp", ("src/*.cpp", "src/contrib/*.cpp", HERE.name + "/programs/yaml.cpp"), documents,
                        include=("include", "src")),
}


def cannot(reason: str) -> NoReturn:
    print(reason)
    sys.exit(3)


def called(command: list[str], where: Path, failed: str) -> None:
    """Without the allocator that the program itself may be run under."""
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "GLIBC_TUNABLES")}
    try:
        done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
    except OSError as error:
        cannot(f"{command[0]}: {error.strerror}")
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        cannot(f"{failed}: {next((line for line in lines if 'error' in line.lower() or line.startswith('E:')), lines[-1])}")


def apt_entries(etc: Path) -> str:
    """Sources from where this system has its packages: its own entries of Debian, as entries of sources."""
    found = []
    for file in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        text = file.read_text() if file.is_file() else ""
        if file.suffix == ".sources":
            for entry in re.split(r"\n[ \t]*\n", text):
                facts = dict(re.findall(r"(?m)^([\w-]+):[ \t]*(.*)$", entry))
                signed = f"[signed-by={facts['Signed-By']}] " if facts.get("Signed-By", "").startswith("/") else ""
                for uri in facts.get("URIs", "").split():
                    found += [f"{signed}{uri} {suite} {facts.get('Components', '')}" for suite in facts.get("Suites", "").split()]
        else:
            found += re.findall(r"(?m)^deb(?:-src)?\s+(.*)$", text)
    return "".join(f"deb-src {one}\n" for one in dict.fromkeys(found) if "/debian" in one)


def downloaded(program: Program, folder: Path, etc: Path = Path("/etc/apt")) -> Path:
    """The folder with the unpacked source. apt checks its signature; it keeps its lists apart from the system's."""
    place = folder / "source" / program.package
    if place.is_dir():
        return place
    apt = folder / "apt"
    (apt / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    entries = apt_entries(etc)
    if not entries or shutil.which("apt-get") is None:
        cannot("this is not a Debian system: its sources cannot be had")
    (apt / "sources.list").write_text(entries)
    options = ["-o", f"Dir::Etc::SourceList={apt}/sources.list", "-o", "Dir::Etc::SourceParts=-", "-o", f"Dir::State::Lists={apt}/lists",
               "-o", f"Dir::Cache={apt}", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=2", "-qq"]
    if not any((apt / "lists").glob("*Sources*")):
        called(["apt-get", *options, "update"], apt, "Debian's list of sources cannot be had")
    called(["apt-get", *options, "--download-only", "source", program.package], apt, "Debian's source cannot be had")
    archive = next(apt.glob(f"{program.package}_*.orig.tar.*"))
    fresh = place.with_name(place.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    with tarfile.open(archive) as file:
        file.extractall(fresh, filter="data") if hasattr(tarfile, "data_filter") else file.extractall(fresh)
    inside = list(fresh.iterdir())
    (inside[0] if len(inside) == 1 else fresh).rename(place)
    shutil.rmtree(fresh, ignore_errors=True)
    return place


def switched(text: str) -> str:
    """With every std::vector a headroom::vector, but for that of bool, which is another class in either library."""
    return re.sub(r"(?<![\w:])(?:std\s*::\s*)?vector\s*<(?!\s*bool\b)", "headroom::vector<", text)


def made(name: str, container: str, folder: Path, compiler: str, library: Path) -> tuple[Path, float]:
    """The program, and how many seconds of processor time it took to compile."""
    program, variant = PROGRAMS[name], CONTAINERS[container]
    built = folder / f"{name}-{variant}"
    wanted = hashlib.sha256()
    for file in [Path(__file__), *sorted((HERE / "programs").iterdir()), *([library] if variant == "headroom" else [])]:
        wanted.update(file.read_bytes())
    stamp = built / "made"
    known = stamp.read_text().split() if stamp.is_file() else ["", ""]
    if known[0] == wanted.hexdigest():
        return built / name, float(known[1])
    shutil.rmtree(built, ignore_errors=True)
    shutil.copytree(downloaded(program, folder), built / "source")
    shutil.copytree(HERE / "programs", built / "source" / HERE.name / "programs")
    source, more = built / "source", []
    if variant == "headroom":
        for file in (one for one in source.rglob("*") if one.suffix in SUFFIXES and one.is_file()):
            before = file.read_text(encoding="latin-1")
            if (after := switched(before)) != before:
                file.write_text(after, encoding="latin-1")
        for file, text, by in program.replace:
            before = (source / file).read_text()
            if text not in before:
                cannot(f"{file} of Debian's {program.package} is another than expected")
            (source / file).write_text(before.replace(text, by))
        more = [f"-I{HEADERS}", "-include", "headroom/vector.hpp", *(
            ["-include", f"{HERE.name}/programs/pooled.hpp"] if program.replace else [])]
    files = sorted(str(one.relative_to(source)) for pattern in program.sources for one in source.glob(pattern)
                   if not re.search(program.leave_out, f"/{one.name}"))
    before = os.times()
    called([compiler, *FLAGS, *program.flags, *more, *(f"-I{one}" for one in program.include), *files, "-o", str(built / name),
            *([str(library), "-pthread", "-ldl"] if variant == "headroom" else []), "-s"], source, f"{name} does not compile")
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    stamp.write_text(f"{wanted.hexdigest()} {seconds}\n")
    return built / name, seconds


def prepared(program: Program, folder: Path) -> list[str]:
    """The arguments; the input is made once."""
    folder.mkdir(parents=True, exist_ok=True)
    known = folder / "arguments"
    if not known.is_file() or known.stat().st_mtime < Path(__file__).stat().st_mtime:
        known.write_text("\n".join(program.arguments(folder)))
    return known.read_text().splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes programs of Debian's sources with either vector.")
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("container", choices=CONTAINERS)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--library", type=Path, required=True)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two parts of a run may be here
        file, seconds = made(asked.program, asked.container, folder, asked.compiler, asked.library.resolve())
        arguments = prepared(PROGRAMS[asked.program], folder / "input" / asked.program)
    print("file", file)
    print("build_time", seconds)
    for argument in arguments:
        print("argument", argument)
    if PROGRAMS[asked.program].result:
        print("result", folder / "input" / asked.program / PROGRAMS[asked.program].result)


if __name__ == "__main__":
    main()
