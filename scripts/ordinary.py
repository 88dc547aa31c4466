# SPDX-License-Identifier: MIT
"""Runs a build's tests once more as an ordinary user: python3 scripts/ordinary.py BUILD [NAME...], as root.

Root is refused little: what a program does under the limits that Debian sets (8 MiB of locked memory), without the rights to
mount, to lock or to read everything, it never sees. So the tests that ask the system for something run again as nobody: with a
fresh home folder, umask 077, in a folder with a space in its name; and those of files once more with TMPDIR on a tmpfs. What
they need is copied there, as a checkout of root's is often closed to others. NAME limits it to these tests.

The last line counts, as ctest's names are counted; what failed is printed whole.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from sources import ROOT

NOBODY = 65534
LOCKED = 8 << 20    # as Debian 12 limits it
# What asks the system for something: rooms whole, and of the others what such a program's name says.
ASKING = re.compile(r"(range|system|file_vector)/|/\w*(annotations|fork|frozen_file|handover_file|large|leaks|limits|mapping|protection|refusals|refused|"
                    r"room|soak)\w*_test")
# But what such files ask of a model of the disk, of kills, of elements and of the clock, which are nobody's and everybody's.
NOT_ASKING = re.compile(r"_(power|power_failing|crash|access|beyond|construct|differential|erase|insert|middle|ranges)_test$|^allowance_test$")
OF_FILES = ("file_vector", "frozen_file", "handover_file", "storable")
READ = ["docs/limits.md", "examples", "src/debuggers", "tests", "fuzz/corpus"]    # of the sources, by tests that run


def known(build):
    """{name: (command, environment)} of the build's tests that are programs of the rooms, and the weather."""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    rooms = {path.stem for path in (ROOT / "tests").glob("*/*_test.cpp") if ASKING.search(f"{path.parent.name}/{path.name}") and not NOT_ASKING.search(path.stem)}
    found = {}
    for test in json.loads(listed)["tests"]:
        if test["name"] in rooms | {"weather"} and "command" in test:
            properties = {one["name"]: one["value"] for one in test["properties"]}
            found[test["name"]] = test["command"], dict(one.split("=", 1) for one in properties.get("ENVIRONMENT", []))
    return found


def copied(build, tests, folder):
    """A copy of what the tests need, for everybody to read; returns where."""
    there = folder / "a checkout"
    for name in READ:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, there / name, symlinks=True)
        elif (ROOT / name).is_file():
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, there / name)
    inside = build.relative_to(ROOT)
    wanted = {pathlib.Path(word) for command, _ in tests.values() for word in command}
    wanted |= set((build / "examples").glob("example_*"))
    for path in wanted:
        if path.is_relative_to(build) and path.is_file():
            target = there / inside / path.relative_to(build)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    for path in [there, *there.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    return there


def run(name, test, there, home, temporary):
    """Whether the test passed as an ordinary user, and what it said."""
    command, environment = test
    home = home / name / temporary.parent.name
    home.mkdir(parents=True)
    os.chown(home, NOBODY, NOBODY)

    def moved(word):
        return str(word).replace(str(ROOT), str(there))

    def limited():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (LOCKED, LOCKED))

    command = [moved(word) for word in command]
    if pathlib.Path(command[0]).name.startswith("python"):    # which may be root's own
        command[0] = "/usr/bin/python3"
    environment = {key: moved(value) for key, value in environment.items()}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(temporary), "USER": "nobody", "LOGNAME": "nobody"}
    try:
        done = subprocess.run(command, cwd=home, env=environment, stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, user=NOBODY, group=NOBODY, extra_groups=[], umask=0o077,
                              preexec_fn=limited)
    except (OSError, subprocess.TimeoutExpired) as error:
        return name, False, str(error)
    return name, done.returncode == 0, done.stdout


def main(build, *names):
    if os.geteuid() != 0:
        sys.exit("ordinary.py: only root can become somebody else; who is not root already runs the tests so")
    build = pathlib.Path(build).resolve()
    tests = {name: test for name, test in known(build).items() if not names or name in names}
    if not tests:
        sys.exit("ordinary.py: there is no such test in that build")
    places = [tempfile.TemporaryDirectory(prefix="as an ordinary user ")]
    if os.path.ismount("/dev/shm") and os.access("/dev/shm", os.W_OK):
        places.append(tempfile.TemporaryDirectory(prefix="as an ordinary user ", dir="/dev/shm"))
    bad = total = 0
    try:
        disk = pathlib.Path(places[0].name)
        disk.chmod(0o755)
        there = copied(build, tests, disk)
        for place in map(pathlib.Path, (place.name for place in places)):
            place.chmod(0o755)
            temporary = place / "temporary files"
            temporary.mkdir()
            os.chown(temporary, NOBODY, NOBODY)
            chosen = {name: test for name, test in tests.items() if place == disk or name.startswith(OF_FILES)}
            # The weather begins first, as it takes longest. (What is the whole machine's it may not switch here, so it may have company.)
            order = sorted(chosen, key=lambda name: (name != "weather", name))
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                outcomes = list(pool.map(lambda name: run(name, chosen[name], there, disk / "home", temporary), order))
            for name, passed, said in outcomes:
                total += 1
                if not passed:
                    bad += 1
                    print(f"{name}, TMPDIR={temporary}:\n{said}")
    finally:
        for place in places:
            place.cleanup()
    print(f"{total - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
