# SPDX-License-Identifier: MIT
"""Checks that ./dev rejects a wrong command line at once: with a message, exit status 2, and nothing installed or built.

    python3 misuse.py

./dev runs in a copy without build folders, with an apt-get, a sudo, a cmake and a pip that only record that they were called.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
WRONG = {    # command line: part of the message
    "": "which command?",
    "frobnicate": "no such command: frobnicate",
    "test --frobnicate": "test knows no flag --frobnicate",
    "test nosuch": 'there is no test "nosuch"',
    "test fork_test --fast": "names of tests or a flag, not both",
    "test --only": "--only wants a preset",
    "test --only nosuch": "there is no preset nosuch to test",
    "test --only dev nosuch": "there is no preset nosuch to test",
    "test --only library": "there is no preset library to test",
    "build nosuch": "there is no preset nosuch to build",
    "build dev release": "build takes one preset",
    "build gcc-base": "there is no preset gcc-base to build",    # hidden: others inherit from it
    "clean --all": "clean takes no flags",
    "lab --frobnicate": "lab knows no flag or command --frobnicate",
    "lab --quick --full": "are two grids",
    "lab --full --default": "are two grids",
    "lab --rounds": "--rounds wants a value",
    "lab --rounds 0": "--rounds wants a number",
    "lab --rounds=many": "--rounds wants a number",
    "lab --shard 5/4": "--shard wants i/n",
    "lab --shard=0/4": "--shard wants i/n",
    "lab --out": "--out wants a file",
    "lab --wait": "--wait wants a value",
    "lab --wait soon": "--wait wants minutes",
    "lab --publish --wait=soon": "--wait wants minutes",
    "lab --publish --wait": "--wait wants a value",
    "lab --publish --quick": "lab --publish takes --wait MINUTES and --compiler NAME alone, not --quick",
    "lab --compiler": "--compiler wants a compiler",
    "lab run --compiler=nosuch": "there is no compiler nosuch",
    "lab --filter nosuch": "matches no experiment, contender or parameter",
    "lab --filter throughput,nosuch": "there is no experiment nosuch",
    "lab --filter=(": "neither a list of experiments nor a regular expression",
    "lab run --frobnicate": "lab knows no flag or command --frobnicate",
    "lab run --full --quick": "are two grids",
    "lab list --shard 5/4": "--shard wants i/n",
    "lab --figures --frobnicate": "lab knows no flag or command --frobnicate",    # a known flag comes first
}
HELP = ["help", "--help", "-h", "lab --help", "lab --quick --help", "lab run --help", "test --help", "test --fast -h", "build --help", "clean --help"]

scratch = tempfile.TemporaryDirectory()    # removed at the end; a folder that somebody names might hold something
folder = pathlib.Path(scratch.name)
(folder / "copy/scripts").mkdir(parents=True)
for name in ("dev", "CMakePresets.json"):
    shutil.copy(ROOT / name, folder / "copy" / name)
shutil.copytree(ROOT / "scripts/dev", folder / "copy/scripts/dev")
shutil.copytree(ROOT / "lab/experiments", folder / "copy/lab/experiments")    # names for --filter
called = folder / "called"
(folder / "bin").mkdir()
for name in ("apt-get", "sudo", "cmake", "pip"):
    program = folder / "bin" / name
    program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{called}"\nexit 1\n')
    program.chmod(0o755)
environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")

failures = []


def dev(line):
    return subprocess.run([folder / "copy/dev", *line.split()], capture_output=True, text=True, env=environment,
                          stdin=subprocess.DEVNULL)


for line, said in WRONG.items():
    run = dev(line)
    if run.returncode != 2 or said not in run.stderr:
        failures.append(f"./dev {line}: wanted status 2 and \"{said}\", got {run.returncode}: {run.stderr[:200]}")
for line in HELP:
    run = dev(line)
    if run.returncode != 0 or "usage: ./dev" not in run.stdout:
        failures.append(f"./dev {line}: wanted the usage, got {run.returncode}: {run.stderr[:200]}")
if called.exists():
    failures.append(f"something was installed or built: {called.read_text()}")
made = sorted(path.name for path in (folder / "copy").iterdir())
if made != ["CMakePresets.json", "dev", "lab", "scripts"]:
    failures.append(f"something was left in the checkout: {made}")

# Suggests existing names for a misspelled one, and runs none of several names if one is wrong.
finder = [sys.executable, "-B", ROOT / "scripts/dev/find_tests.py"]
for wrong, right in {"vector_ersae": "vector_erase_test", "lint_flors": "lint_floors", "rehom": "rehoming", "weathr": "weather"}.items():
    run = subprocess.run([*finder, "fork_test", wrong], capture_output=True, text=True)
    if run.returncode != 2 or run.stdout or right not in run.stderr:
        failures.append(f"./dev test {wrong}: wanted status 2 and {right}, got {run.returncode}: {run.stdout}{run.stderr}")
# Finds every name that --list shows.
listed = subprocess.run([*finder, "--list"], capture_output=True, text=True, check=True).stdout
names = [name for line in listed.splitlines() if line.startswith("    ") for name in line.split()]
run = subprocess.run([*finder, *names], capture_output=True, text=True)
if len(names) < 200 or run.returncode != 0:
    failures.append(f"./dev test does not find {len(names)} names that --list shows: {run.stderr}")

# ./dev lab checks flags before the command is built; both must know equal flags.
command = (ROOT / "tools/lab/command.cpp").read_text(encoding="utf-8")
shell = (ROOT / "scripts/dev/lab.sh").read_text(encoding="utf-8")
flags = set(re.findall(r'(?:run_|to)->add_(?:flag|option)\("(--\w+)"', command))
known = set(re.findall(r"(?<![\w-])(--\w+)(?= \||\))", re.search(r"read_lab_flags\(\) \{.*?\n\}", shell, re.S)[0])) - {"--help"}
if flags != known:
    failures.append(f"flags of `headroom lab run` that ./dev lab does not know, or the other way round: {sorted(flags ^ known)}")
for verb in re.findall(r'lab\.add_subcommand\("(\w+)"', command):
    if not re.search(rf"\b{verb}\b[^)\n]*\)", shell):
        failures.append(f"./dev lab does not know `headroom lab {verb}`")
print("\n".join(failures))
sys.exit(1 if failures else 0)
