# SPDX-License-Identifier: MIT
"""Counts what a file gets that includes a public header: python3 scripts/header_lines.py [--write]

Prints the lines of each public header after the preprocessor, without empty ones, and their ratio to those of <vector>; --write records
them in docs/header_lines.json, which scripts/lint_headers.py compares with. By GCC, of the version that the file names: the lines are
mostly the standard library's.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

from sources import ROOT

RECORD = ROOT / "docs/header_lines.json"
COMPILER = "g++"


def version():
    """The compiler's major version; None if there is no such compiler."""
    if not shutil.which(COMPILER):
        return None
    return subprocess.run([COMPILER, "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip().split(".")[0]


def lines_of(name):
    """Preprocessed lines of a file that includes the header `name`, or why it cannot be preprocessed."""
    ran = subprocess.run([COMPILER, "-std=c++20", "-E", "-P", "-x", "c++", f"-I{ROOT}/include", "-"], input=f"#include <{name}>\n",
                         capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    return sum(1 for line in ran.stdout.splitlines() if line.strip()) if ran.returncode == 0 else re.sub(r"\s+", " ", ran.stderr).strip()


def measured(more=()):
    """{header: lines} of all public headers, and of those named."""
    names = [f"headroom/{path.name}" for path in sorted((ROOT / "include/headroom").glob("*.hpp"))] + list(more)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(lines_of, names)))


if __name__ == "__main__":
    found = measured(("vector", "memory_resource"))
    for name, lines in found.items():
        print(f"{name:<32}{lines:>8}{lines / found['vector']:>8.2f}")
    if "--write" in sys.argv:
        record = {"compiler": f"{COMPILER} {version()}", "lines": found}
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
