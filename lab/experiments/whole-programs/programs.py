# SPDX-License-Identifier: MIT
"""Makes programs of Debian's sources: as they are, with their vectors replaced, and with what `headroom profile` advises.

programs.py PROGRAM CONTENDER --folder FOLDER --compiler CXX --library LIBHEADROOM.a

Downloads, unpacks and compiles what is not in FOLDER yet, and says how the program is called, in lines of two words: the file,
the seconds that it took to compile, each argument, and the file that it writes, if it is that one's length that is the same
in every run, not what is printed. Where something is missing that this needs, it prints the reason, and its exit code is 3.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, NoReturn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import inputs  # noqa: E402

HEADERS = HERE.parents[2] / "include"
PATCHES = HERE / "patches"
CONTENDERS = {"std::vector": "plain", "headroom::vector": "headroom", "headroom::advised": "advised"}
FLAGS = ["-std=c++20", "-O2", "-falign-loops=64", "-DNDEBUG", "-w"]
SUFFIXES = {".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"}


@dataclass(frozen=True)
class Program:
    package: str  # Debian's source package
    sources: tuple[str, ...]  # patterns, of the files that are compiled
    arguments: Callable[[Path], list[str]]  # makes the input in that folder, and says with what the program is called
    own: tuple[str, ...] = ()  # files of programs/ that are compiled with them
    leave_out: str = r"$^"  # of their names
    include: tuple[str, ...] = (".",)
    flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    before: tuple[str, ...] = ()  # commands that make the rest of its sources; {compiler} is ours
    result: str = ""  # see above

    def identity(self) -> bytes:
        """Differs where another program would be made of it."""
        return repr((FLAGS, self.package, self.sources, self.own, self.leave_out, self.include, self.flags, self.libraries, self.before)).encode()


# Both are older than C++20, which Headroom needs.
LEMON_20 = r"sed -i 's/allocator\.\(construct\|destroy\)(/std::\1_at(/' lemon/bits/array_map.h"
RANGER_20 = r'''sh -c "sed -i 's/\([^:]\)make_unique</\1std::make_unique</' src/*.cpp src/*.h"'''
CLUCENE_20 = (r"sed -i 's/<< \(maxTermPrefix\|\(fp->\)\?fieldInfo->name\)//; s/^\( *BufferedStreamImpl\)<T>()/\1()/' "
              "src/core/CLucene/index/DocumentsWriterThreadState.cpp src/core/CLucene/util/_bufferedstream.h")
RYML = "third_party/rapidyaml/rapidyaml"
CMAKE = "cmake -S . -B configured -DBUILD_TESTS=OFF -DCMAKE_CXX_COMPILER={compiler}"
PROGRAMS = {
    "cadical": Program("cadical", ("src/*.cpp",), inputs.clauses, leave_out=r"mobical|ipasir", flags=("-DNBUILD",)),
    "clucene": Program("clucene-core", ("src/core/CLucene/CLMonolithic.cpp",), inputs.articles, own=("index.cpp",),
                       include=("configured/src/shared", "src/core", "src/shared"), flags=("-pthread", "-include", "ctime"),
                       libraries=("-lz",), before=(CMAKE, CLUCENE_20)),
    "fasttext": Program("fasttext", ("src/*.cc",), inputs.labelled_lines, flags=("-pthread",), result="model.bin"),
    "hunspell": Program("hunspell", ("src/hunspell/*.cxx", "src/tools/example.cxx"), inputs.dictionary, include=("src/hunspell",),
                        flags=("-DHUNSPELL_STATIC",)),
    "jsoncpp": Program("libjsoncpp", ("src/lib_json/*.cpp",), inputs.records, own=("json.cpp",), include=("include",)),
    "jsonnet": Program("jsonnet", ("core/*.cpp", "cmd/jsonnet.cpp", "cmd/utils.cpp", "third_party/md5/md5.cpp", f"{RYML}/src/c4/yml/*.cpp",
                                   f"{RYML}/ext/c4core/src/c4/*.cpp"), inputs.configuration, leave_out="_test",
                       include=("include", "core", "third_party/json", "third_party/md5", f"{RYML}/src", f"{RYML}/ext/c4core/src"),
                       before=("{compiler} stdlib/to_c_array.cpp -o to_c_array", "./to_c_array stdlib/std.jsonnet core/std.jsonnet.h")),
    "lemon": Program("liblemon", ("lemon/base.cc", "lemon/random.cc"), inputs.tours, own=("routes.cpp",), include=(".", "configured"),
                     flags=("-pthread",), before=(CMAKE, LEMON_20)),
    "ninja": Program("ninja-build", ("src/*.cc",), inputs.targets,
                     leave_out=r"_test\.cc|_perftest|win32|\.in\.cc|browse|bench|/test\.cc", include=()),
    "openmesh": Program("openmesh", ("src/OpenMesh/Core/*/*.cc", "src/OpenMesh/Core/IO/*/*.cc", "src/OpenMesh/Tools/Utils/*.cc",
                                     "src/OpenMesh/Tools/Decimater/*.cc", "src/OpenMesh/Apps/Decimating/decimater.cc"), inputs.height_field,
                        include=("src",), result="reduced.off"),
    "polyclipping": Program("libpolyclipping", ("cpp/clipper.cpp",), inputs.polygons, own=("polygons.cpp",), include=("cpp",),
                            before=(r"sed -i 's/\r$//' cpp/clipper.cpp",)),
    "ranger": Program("r-cran-ranger", ("src/*.cpp",), inputs.measurements, own=("forest.cpp",), leave_out="Rcpp|rangerCpp|DataSparse|AAA",
                      include=("src",), flags=("-pthread",), before=(RANGER_20,)),
    "wabt": Program("wabt", ("src/*.cc", "src/opcode-code-table.c", "src/tools/wasm2wat.cc"), inputs.module, leave_out="/test-|emscripten|c-writer|objdump|opcnt|decompiler",
                    include=("include", "configured/include", "src"), before=(CMAKE,), result="module.wat"),
    "yaml-cpp": Program("yaml-cpp", ("src/*.cpp", "src/contrib/*.cpp"), inputs.documents, own=("yaml.cpp",), include=("include", "src")),
}


def cannot(reason: str) -> NoReturn:
    print(reason)
    sys.exit(3)


def failure(command: list[str], where: Path) -> str:
    """Runs the command, without the allocator that the program itself may be run under; returns why it failed, if it did."""
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "GLIBC_TUNABLES")}
    try:
        done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    if done.returncode == 0:
        return ""
    lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
    return next((line for line in lines if "error" in line.lower() or line.startswith("E:")), lines[-1])


def called(command: list[str], where: Path, failed: str) -> None:
    if reason := failure(command, where):
        cannot(f"{failed}: {reason}")


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
    archive = next(one for one in apt.glob(f"{program.package}_*.orig.tar.*") if one.suffix != ".asc")
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


def changed(source: Path, name: str, variant: str) -> list[str]:
    """Changes the sources as that contender wants, and returns the compiler's flags for it."""
    if variant == "headroom":
        for file in (one for one in source.rglob("*") if one.suffix in SUFFIXES and one.is_file()):
            before = file.read_text(encoding="latin-1")
            if (after := switched(before)) != before:
                file.write_text(after, encoding="latin-1")
        return [f"-I{HEADERS}", "-include", "headroom/vector.hpp"]
    if variant == "advised":
        called(["patch", "-p1", "--fuzz=0", "-i", str(PATCHES / f"{name}.patch")], source, f"the patch of {name} does not fit Debian's source")
        return [f"-I{HEADERS}"]
    return []


def compiled(files: list[str], command: list[str], source: Path, name: str) -> list[str]:
    """The objects. As many compilers run as there are processors."""
    in_c = [command[0], "-x", "c", "-O2", "-w", *(one for one in command if one.startswith("-I"))]
    objects = [f"object{number}.o" for number in range(len(files))]
    with ThreadPoolExecutor(os.cpu_count()) as several:
        reasons = list(several.map(lambda file, made: failure([*(in_c if file.endswith(".c") else command), "-c", file, "-o", made], source), files, objects))
    for reason in filter(None, reasons):
        cannot(f"{name} does not compile: {reason}")
    return objects


def made(name: str, contender: str, folder: Path, compiler: str, library: Path) -> tuple[Path, float]:
    """The program, and how many seconds of processor time it took to compile."""
    program, variant = PROGRAMS[name], CONTENDERS[contender]
    built = folder / f"{name}-{variant}"
    wanted = hashlib.sha256(program.identity())
    for file in [*(HERE / "programs" / own for own in program.own), *([PATCHES / f"{name}.patch"] if variant == "advised" else []),
                 *([library] if variant != "plain" else [])]:
        wanted.update(file.read_bytes())
    stamp = built / "made"
    known = stamp.read_text().split() if stamp.is_file() else ["", ""]
    if known[0] == wanted.hexdigest():
        return built / name, float(known[1])
    shutil.rmtree(built, ignore_errors=True)
    source = built / "source"
    shutil.copytree(downloaded(program, folder), source)
    for own in program.own:
        shutil.copy(HERE / "programs" / own, source)
    for command in program.before:
        called([part.format(compiler=compiler) for part in shlex.split(command)], source, f"{name} cannot be configured")
    flags = [*FLAGS, *program.flags, *(f"-I{one}" for one in program.include), *changed(source, name, variant)]
    files = sorted(str(one.relative_to(source)) for pattern in (*program.sources, *program.own) for one in source.glob(pattern)
                   if not re.search(program.leave_out, f"/{one.name}"))
    before = os.times()
    objects = compiled(files, [compiler, *flags], source, name)
    called([compiler, *program.flags, *objects, "-o", str(built / name), *([str(library), "-pthread", "-ldl"] if variant != "plain" else []), *program.libraries, "-s"],
           source, f"{name} cannot be linked")
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    stamp.write_text(f"{wanted.hexdigest()} {seconds}\n")
    return built / name, seconds


def prepared(program: Program, folder: Path) -> list[str]:
    """The arguments; the input is made once."""
    folder.mkdir(parents=True, exist_ok=True)
    known = folder / "arguments"
    if not known.is_file() or known.stat().st_mtime < Path(inputs.__file__).stat().st_mtime:
        known.write_text("\n".join(program.arguments(folder)))
    return known.read_text().splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes programs of Debian's sources for a contender.")
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("contender", choices=CONTENDERS)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--library", type=Path, required=True)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two parts of a run may be here
        file, seconds = made(asked.program, asked.contender, folder, asked.compiler, asked.library.resolve())
        arguments = prepared(PROGRAMS[asked.program], folder / "input" / asked.program)
    print("file", file)
    print("build_time", seconds)
    for argument in arguments:
        print("argument", argument)
    if PROGRAMS[asked.program].result:
        print("result", folder / "input" / asked.program / PROGRAMS[asked.program].result)


if __name__ == "__main__":
    main()
