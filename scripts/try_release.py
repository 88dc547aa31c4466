# SPDX-License-Identifier: MIT
"""Installs a release as its users do, who have nothing but its folder: python3 scripts/try_release.py build/release-0.1.0

In a bare Debian root, made by debootstrap, with a compiler and CMake of Debian: its checksums; then Debian's packages (find_package and
pkg-config), the tarball (configured, built, installed) and the single header, and the examples run with each; then the Python package as
wheel and as source distribution. Says a line for each, and ends with 1 if one failed. Some ten minutes before a release, by hand: asks for
root or sudo, debootstrap, a gigabyte, and the mirrors that this machine's apt and pip use. What is named after the folder (deb, tarball,
header, wheel, sdist) is tried alone.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SUITE = "bookworm"
TOOLS = ["g++", "cmake", "make", "pkg-config", "ca-certificates", "python3-venv", "python3-dev"]

# In each way's script $release is the folder, $sources the unpacked tarball, and the working folder the way's own.
EXAMPLES = r"""
run_examples() {    # run_examples COMMAND: `COMMAND FILE PROGRAM` makes one; each must say what the file beside it says
    local example name count=0
    for example in "$sources"/examples/*.cpp; do
        name=$(basename "$example" .cpp)
        "$1" "$example" "./$name" || return 1
        "./$name" > "$name.said" || { echo "$name ended with $?"; return 1; }
        cmp "$name.said" "${example%.cpp}.out" || return 1
        count=$((count + 1))
    done
    [ "$count" -gt 0 ] && echo "$count examples $1."
}
"""
# Arguments: what CMake needs to find the package.
FIND_PACKAGE = r"""
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
cmake -S . -B built -D SOURCES="$sources" -D CMAKE_BUILD_TYPE=Release "$@" > configured.log 2>&1 || { cat configured.log; exit 1; }
cmake --build built --parallel 2 > built.log 2>&1 || { tail -n 30 built.log; exit 1; }
with_find_package() { cp "built/$(basename "$2")" "$2"; }
run_examples with_find_package
"""
PYTHON = """
from headroom_arrays import Array
numbers = Array("int64")
numbers.extend(range(1000))
Array("float64", path="column").extend([1.5, 2.5])
assert sum(numbers) == 499500 and Array("float64", path="column", mode="r").tolist() == [1.5, 2.5]
print("an array in memory and one in a file")
"""
WAYS = {
    "deb": r"""
apt-get install --yes --no-install-recommends "$release"/*.deb > installed.log 2>&1 || { tail -n 20 installed.log; exit 1; }
with_pkg_config() { g++ -std=c++20 -O2 "$1" -o "$2" $(pkg-config --cflags --libs headroom headroom-file headroom-exchange); }
run_examples with_pkg_config
rm -f ./*.said
""" + FIND_PACKAGE + r"""
headroom --version
for package in libheadroom0.1 libheadroom-file0.1 libheadroom-exchange0.1 libheadroom-dev headroom-tools; do
    test -s "/usr/share/doc/$package/copyright"
done
test -s /usr/share/headroom/headroom.natvis
apt-get purge --yes '*headroom*' > purged.log 2>&1
left=$(compgen -G '/usr/include/headroom*' || true; compgen -G '/usr/lib/*/libheadroom*' || true); [ -z "$left" ] || { echo "purging left $left"; exit 1; }
""",
    "tarball": r"""
cmake -S "$sources" -B library -D CMAKE_INSTALL_PREFIX="$PWD/prefix" -D CMAKE_BUILD_TYPE=Release > library.log 2>&1 || { tail -n 30 library.log; exit 1; }
cmake --build library --parallel 2 > made.log 2>&1 || { tail -n 30 made.log; exit 1; }
cmake --install library > installed.log
set -- -D CMAKE_PREFIX_PATH="$PWD/prefix"
""" + FIND_PACKAGE,
    "header": r"""
cp "$release"/headroom-*.hpp headroom_all.hpp
printf '#define HEADROOM_IMPLEMENTATION\n#include "headroom_all.hpp"\n' > library.cpp
g++ -std=c++20 -O1 -c library.cpp
with_one_header() { sed 's,#include <headroom/.*>,#include "headroom_all.hpp",' "$1" > one.cpp; g++ -std=c++20 -O1 -I. one.cpp library.o -pthread -o "$2"; }
run_examples with_one_header
""",
    "wheel": r"""
python3 -m venv environment
environment/bin/pip install --no-index "$release"/*.whl > installed.log 2>&1 || { cat installed.log; exit 1; }
environment/bin/python -c "$python"
""",
    "sdist": r"""
python3 -m venv environment
environment/bin/pip install "$release"/headroom_arrays-*.tar.gz > installed.log 2>&1 || { tail -n 30 installed.log; exit 1; }
environment/bin/python -c "$python"
""",
}


def as_root(*words, **options):
    return subprocess.run([*([] if os.geteuid() == 0 else ["sudo", "--preserve-env"]), *map(str, words)], **options)


def own_mirror():
    """Where this machine's apt has Debian's packages; None if it does not say, and debootstrap knows one itself."""
    for path in [*pathlib.Path("/etc/apt/sources.list.d").glob("*.sources"), *pathlib.Path("/etc/apt").glob("sources.list"),
                 *pathlib.Path("/etc/apt/sources.list.d").glob("*.list")]:
        found = re.search(r"(?m)^(?:deb (?:\[[^\]]*\] )?|URIs:\s*)(\S+/debian)/?\s", path.read_text(encoding="utf-8"))
        if found:
            return found[1]
    return None


def bare_root(root):
    """Debian's minimum, with this machine's own way to mirrors: its names, its certificates, apt's and pip's settings."""
    mirror = own_mirror()
    if as_root("debootstrap", "--variant=minbase", SUITE, root, *([mirror] if mirror else []), stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit("try_release.py: debootstrap made no root")
    for name in ("etc/resolv.conf", "etc/hosts", "etc/apt/apt.conf.d", "usr/local/share/ca-certificates", "etc/pip.conf", os.environ.get("PIP_CERT", ""),
                 os.environ.get("PIP_FIND_LINKS", "")):
        origin = pathlib.Path("/", name)
        if name and origin.exists():
            target = root / str(origin).lstrip("/")
            as_root("mkdir", "--parents", target.parent)
            as_root("cp", "--recursive", "--dereference", "--no-target-directory", origin, target)
    as_root("mount", "--types", "proc", "proc", root / "proc", check=True)


def inside(root, script, *arguments):
    return as_root("chroot", root, "/bin/bash", "-euo", "pipefail", "-c", script, "try", *arguments, capture_output=True, text=True)


def try_all(root, folder, tarball, ways):
    """Prints a line for each way; returns how many failed."""
    bare_root(root)
    as_root("cp", "--recursive", folder.resolve(), root / "release", check=True)
    prepared = inside(root, "cd /release && sha256sum --check --quiet SHA256SUMS && apt-get update"
                            ' && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@" && update-ca-certificates'
                            f" && mkdir /sources && tar -xzf /release/{tarball.name} --strip-components=1 -C /sources", *TOOLS)
    if prepared.returncode != 0:
        sys.exit(f"try_release.py: cannot prepare the root:\n{prepared.stdout[-2000:]}{prepared.stderr[-2000:]}")
    failed = 0
    for way in ways:
        done = inside(root, f"export LC_ALL=C.UTF-8 release=/release sources=/sources python=$1; shift; mkdir /{way}; cd /{way}; {EXAMPLES}{WAYS[way]}", PYTHON)
        failed += done.returncode != 0
        print(f"{'failed' if done.returncode else 'passed'}  {way}: {' '.join((done.stdout + done.stderr).split())[-1500:]}", flush=True)
    return failed


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=pathlib.Path)
    asked.add_argument("ways", nargs="*", metavar="WAY", help=", ".join(WAYS))
    said = asked.parse_args()
    if unknown := [way for way in said.ways if way not in WAYS]:
        asked.error(f"there is no way {unknown[0]}; there are: {', '.join(WAYS)}")
    tarball = sorted(said.folder.glob("headroom-[0-9]*.tar.gz"))
    if len(tarball) != 1:
        sys.exit(f"try_release.py: {said.folder}: has no headroom-VERSION.tar.gz, or several")
    if not shutil.which("debootstrap", path=os.environ.get("PATH", "") + ":/usr/sbin"):
        sys.exit("try_release.py: debootstrap is not here (Debian: debootstrap)")
    if os.geteuid() != 0 and not shutil.which("sudo"):
        sys.exit("try_release.py: neither root nor sudo")
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"    # of who became root without root's own
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))    # what is mounted and made goes
    work = pathlib.Path(tempfile.mkdtemp(prefix="headroom-bare-"))
    root = work / "root"
    try:
        return 1 if try_all(root, said.folder, tarball[0], said.ways or WAYS) else 0
    finally:
        for mounted in ("proc", "sys"):    # debootstrap's own, too, where it was stopped
            as_root("umount", "--lazy", root / mounted, stderr=subprocess.DEVNULL)
        as_root("rm", "--recursive", "--force", "--one-file-system", work)


if __name__ == "__main__":
    sys.exit(main())
