"""clang-tidy over the library's sources, and the headers they include: python3 scripts/tidy.py BUILD [FILE...]

BUILD is a folder with a compile_commands.json, best one of Clang's (build/asan-ubsan). What is checked stands in .clang-tidy. A file with
findings is printed with them; the last line counts. Files of other systems, which BUILD does not compile, are left out.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sources import ROOT

PROGRAM = "clang-tidy-19"


def main(build, *wanted):
    if shutil.which(PROGRAM) is None:
        sys.exit(f"tidy.py: {PROGRAM} is not here; ./dev test installs it")
    commands = pathlib.Path(build) / "compile_commands.json"
    if not commands.exists():
        sys.exit(f"tidy.py: {commands} is not there; ./dev build makes one")
    compiled = {pathlib.Path(one["directory"], one["file"]).resolve() for one in json.loads(commands.read_text(encoding="utf-8"))}
    files = sorted(path for path in compiled if path.is_relative_to(ROOT / "src"))
    if wanted:
        files = [path for path in files if str(path.relative_to(ROOT)) in wanted]
    if not files:
        sys.exit("tidy.py: there is no such file among those of the library")

    def check(path):
        done = subprocess.run([PROGRAM, "--quiet", "-p", build, path], capture_output=True, text=True)
        return path, done.returncode, done.stdout

    bad = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, status, said in pool.map(check, files):
            if status != 0:
                bad += 1
                print(f"{path.relative_to(ROOT)}:\n{said}")
    print(f"{len(files) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
