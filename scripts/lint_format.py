# SPDX-License-Identifier: MIT
"""Every file of C++ stands as .clang-format asks. `clang-format-19 -i FILE` puts it so.

Another version of clang-format would set other lines elsewhere: where 19 is not at hand, this says so and ends with 77,
which the tests count as skipped. `./dev test` installs it.
"""
import shutil
import subprocess
import sys

from sources import CODE, ROOT, files, finish

program = shutil.which("clang-format-19")
if program is None:
    print("clang-format-19 is not here: nothing was checked")
    sys.exit(77)
names = [str(path) for path in files(*CODE, ".cppm")]
done = subprocess.run([program, "--dry-run", "--style=file", *names], cwd=ROOT, capture_output=True, text=True)
if done.returncode != 0:
    sys.exit(done.stderr)
findings = {}
for line in done.stderr.splitlines():
    if "[-Wclang-format-violations]" in line:
        name, number = line.split(":")[:2]
        findings.setdefault(name, f"{name}:{number}: not as .clang-format asks; clang-format-19 -i {name}")
finish(findings.values())
