# SPDX-License-Identifier: MIT
"""Checks that ./dev --no-install changes no installed parts, and that no process writes to its output after it has ended.

    python3 as_it_is.py

./dev runs in a copy, with its own cmake and sleep, and with a .venv made from another list.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
scratch = tempfile.TemporaryDirectory()    # removed at the end; a folder that somebody names might hold something
folder = pathlib.Path(scratch.name)
copy = folder / "copy"
for name in ("dev", "CMakePresets.json", "lab/report/requirements.txt", *(f"scripts/dev/{path.name}" for path in (ROOT / "scripts/dev").glob("*.*"))):
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / name, copy / name)
environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", PIP_NO_INDEX="1")
failures = []


def program(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)    # never writes through a link, for example to the system's Python
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


def dev(line, status, said):
    run = subprocess.run([copy / "dev", *line.split()], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    if run.returncode != status or said not in run.stdout:
        failures.append(f"./dev {line}: wanted status {status} and \"{said}\", got {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout + run.stderr


# The reader of a pipe from ./dev waits for all its writers: none may outlive ./dev.
program(folder / "bin/sleep", f'echo held; echo held >&2; : >"{folder}/slept"')
program(folder / "bin/cmake", f'[ "$1" != --build ] || for each in $(seq 100); do [ -e "{folder}/slept" ] || command -p sleep 0.1; done')
if "held" in dev("--no-install build", 0, "built in build/dev"):
    failures.append("the pause of what counts the steps holds the output of ./dev build")

dev("--no-install test report", 1, "no .venv")
if (copy / ".venv").exists():
    failures.append("--no-install made a .venv")
shutil.rmtree(copy / ".venv", ignore_errors=True)
program(copy / ".venv/bin/python", "echo 1 passed")
(copy / ".venv/made-from").write_text("another list")
dev("--no-install test report", 0, "1 passed, 0 failed")
if not (copy / ".venv/made-from").exists() or (copy / ".venv/made-from").read_text() != "another list":
    failures.append("--no-install made .venv anew")
print("\n".join(failures))
sys.exit(1 if failures else 0)
