"""Installs a release as its users do, who have nothing but its folder: python3 scripts/try_release.py build/release-0.1.0

In a bare Debian root, made by debootstrap, with a compiler and CMake from Debian, three ways, and the examples run in each: Debian's packages
(find_package and pkg-config), the tarball (configured, built, installed), and the single header. Then the wheel and the source distribution of
the Python package. Says a line for each, and ends with 1 if one failed. Asks for root or sudo, debootstrap, a gigabyte, and Debian's mirror.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

SUITE = "bookworm"
TOOLS = ["g++", "cmake", "make", "pkg-config", "ca-certificates"]
PYTHON = ["python3-venv", "python3-dev"]

# What each way runs in the root, in a folder of its own, with $release and $sources set.
EXAMPLES = r"""
run_examples() {    # run_examples COMMAND: `COMMAND FILE PROGRAM` compiles one
    local example name count=0
    for example in "$sources"/examples/*.cpp; do
        name=$(basename "$example" .cpp)
        "$1" "$example" "./$name" || return 1
        "./$name" > "$name.said" || { echo "$name ended with $?"; return 1; }
        cmp "$name.said" "${example%.cpp}.out" || return 1
        count=$((count + 1))
    done
    echo "$count examples"
}
"""
FOUND = r"""
cat > CMakeLists.txt <<'LISTS'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(headroom 0.1 REQUIRED COMPONENTS file exchange)
file(GLOB examples ${SOURCES}/examples/*.cpp)
foreach(example IN LISTS examples)
  get_filename_component(name ${example} NAME_WE)
  add_executable(${name} ${example})
  target_link_libraries(${name} PRIVATE headroom::headroom headroom::file headroom::exchange)
endforeach()
LISTS
cmake -S . -B built -D SOURCES="$sources" -D CMAKE_BUILD_TYPE=Release "$@" > configured.log || { cat configured.log; exit 1; }
cmake --build built --parallel > built.log || { tail -n 30 built.log; exit 1; }
take_built() { cp "built/$(basename "$2")" "$2"; }
run_examples take_built
"""
WAYS = {
    "Debian's packages": r"""
apt-get install --yes --no-install-recommends "$release"/*.deb > installed.log 2>&1 || { tail -n 20 installed.log; exit 1; }
with_pkg_config() { g++ -std=c++20 -O2 "$1" -o "$2" $(pkg-config --cflags --libs headroom headroom-file headroom-exchange); }
run_examples with_pkg_config
rm -f ./*.said
""" + FOUND + r"""
headroom --version
apt-get purge --yes '*headroom*' > purged.log 2>&1
! ls /usr/include/headroom 2> /dev/null
""",
    "the tarball": r"""
cmake -S "$sources" -B library -D CMAKE_INSTALL_PREFIX="$PWD/prefix" > library.log 2>&1 || { tail -n 30 library.log; exit 1; }
cmake --build library --parallel > made.log 2>&1 || { tail -n 30 made.log; exit 1; }
cmake --install library > installed.log
set -- -D CMAKE_PREFIX_PATH="$PWD/prefix"
""" + FOUND,
    "the single header": r"""
cp "$release"/headroom-*.hpp headroom_all.hpp
printf '#define HEADROOM_IMPLEMENTATION\n#include "headroom_all.hpp"\n' > library.cpp
g++ -std=c++20 -O2 -c library.cpp
with_one_header() { sed 's,#include <headroom/.*>,#include "headroom_all.hpp",' "$1" > one.cpp; g++ -std=c++20 -O1 -I. one.cpp library.o -pthread -o "$2"; }
run_examples with_one_header
""",
    "the wheel": r"""
python3 -m venv environment
environment/bin/pip install --no-index "$release"/*.whl > installed.log || { cat installed.log; exit 1; }
environment/bin/python -c "$program"
""",
    "the source distribution": r"""
python3 -m venv environment
environment/bin/pip install "$release"/headroom_arrays-*.tar.gz > installed.log || { tail -n 30 installed.log; exit 1; }
environment/bin/python -c "$program"
""",
}
PROGRAM = """
from headroom_arrays import Array
numbers = Array("int64")
numbers.extend(range(1000))
Array("float64", path="column").extend([1.5, 2.5])
assert sum(numbers) == 499500 and Array("float64", path="column", mode="r").tolist() == [1.5, 2.5]
print("an array in memory and one in a file")
"""


def as_root(*words, **options):
    sudo = [] if subprocess.run(["id", "-u"], capture_output=True, text=True).stdout.strip() == "0" else ["sudo"]
    return subprocess.run([*sudo, *map(str, words)], **options)


def bare_root(root, mirror):
    """Debian's minimum, with this machine's own way to the mirrors: its proxies, its names, its certificates."""
    as_root("debootstrap", "--variant=minbase", SUITE, root, *([mirror] if mirror else []), check=True, stdout=subprocess.DEVNULL)
    for name in ("etc/resolv.conf", "etc/hosts"):
        as_root("cp", "--dereference", f"/{name}", root / name)
    for name in ("etc/apt/apt.conf.d", "usr/local/share/ca-certificates", "etc/pip.conf"):
        if pathlib.Path("/", name).exists():
            as_root("cp", "--recursive", "--dereference", f"/{name}", (root / name).parent)


def inside(root, script, *arguments):
    return as_root("chroot", root, "/bin/bash", "-eu", "-c", script, "try", *arguments, capture_output=True, text=True)


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=pathlib.Path)
    asked.add_argument("--mirror", help="where debootstrap gets the packages, if not from its own")
    said = asked.parse_args()
    tarball = sorted(said.folder.glob("headroom-[0-9]*.tar.gz"))
    if len(tarball) != 1:
        sys.exit(f"try_release.py: {said.folder}: has no headroom-VERSION.tar.gz, or several")
    if not shutil.which("debootstrap"):
        sys.exit("try_release.py: debootstrap is not here (Debian: debootstrap)")
    work = pathlib.Path(tempfile.mkdtemp(prefix="headroom-bare-"))
    root, failed = work / "root", 0
    try:
        bare_root(root, said.mirror)
        as_root("cp", "--recursive", said.folder.resolve(), root / "release")
        prepared = inside(root, 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"'
                                f" && mkdir /sources && tar -xzf /release/{tarball[0].name} --strip-components=1 -C /sources",
                          *TOOLS, *PYTHON)
        if prepared.returncode != 0:
            sys.exit(f"try_release.py: the root was not to be prepared:\n{prepared.stdout[-2000:]}{prepared.stderr[-2000:]}")
        for number, (way, script) in enumerate(WAYS.items()):
            done = inside(root, f"export release=/release sources=/sources program=$1; shift; mkdir /{number}; cd /{number}; {EXAMPLES}{script}", PROGRAM)
            failed += done.returncode != 0
            print(f"{'failed' if done.returncode else 'passed'}  {way}: {' '.join((done.stdout + done.stderr).split())[-1500:]}", flush=True)
    finally:
        as_root("rm", "--recursive", "--force", "--one-file-system", work)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
