# SPDX-License-Identifier: MIT
"""Writes the table of docs/platforms.md from what the tests printed: run it after `./dev test --everywhere`, or `--only PRESET...`.

Reads of each preset build/log/ctest-PRESET.log, or linked-PRESET, and commit-PRESET, which `./dev test` keeps (what is appended to a
log counts instead of what was said before), and replaces what stands between the two marks of the page. A preset without a log keeps
its row. With --print it only prints the table.
"""
import datetime
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "platforms.md"
BEGIN, END = "<!-- made by scripts/platform_table.py -->", "<!-- end -->"

# Preset, and the programs whose versions count; in the order of the table.
PRESETS = {
    "gcc": ["g++"],
    "shared": ["g++"],
    "clang": ["clang++-19"],
    "clang-libcxx": ["clang++-19"],
    "gcc-11": ["g++-11"],
    "clang-14": ["clang++-14"],
    "clang-15": ["clang++-15"],
    "clang-16": ["clang++-16"],
    "i686": ["i686-linux-gnu-g++"],
    "aarch64": ["aarch64-linux-gnu-g++", "qemu-aarch64-static"],
    "aarch64-64k": ["aarch64-linux-gnu-g++", "qemu-aarch64-static"],
    "riscv64": ["riscv64-linux-gnu-g++", "qemu-riscv64-static"],
    "mingw": ["x86_64-w64-mingw32-g++-posix", "/usr/lib/wine/wine64"],
    "msvc": ["msvc", "/usr/lib/wine/wine64"],
    "clang-cl": ["clang-cl-19", "msvc", "/usr/lib/wine/wine64"],
    "macos-x86_64": ["ziglang"],
    "macos-aarch64": ["ziglang"],
    "freebsd-x86_64": ["ziglang"],
}
# Rooms of tests/ with a column of their own, and how it is called.
ROOMS = {"concurrent_vector": "`concurrent_vector`", "file_vector": "`file_vector`", "arrow": "handed over"}


def outcomes(log):
    """{program: what it did} of one of ctest's logs."""
    found = {}
    for part in re.split(r"^(?=\d+/\d+ Testing: )", log, flags=re.M):
        named = re.match(r"\d+/\d+ Testing: (\S+)", part)
        if not named:
            continue
        name = named[1]
        passed = re.search(r"^\[  PASSED  \] (\d+) test", part, re.M)
        failed = re.search(r"^\[  FAILED  \] (\d+) test", part, re.M)
        skipped = re.search(r"^\[  SKIPPED \] (\d+) test", part, re.M)
        ran = re.search(r"^\[=+\] (\d+) tests? from", part, re.M)
        ended_well = re.search(r"^Test Passed\.", part, re.M)
        if ran and "this system cannot show a file that grows" in part:    # tests/support/shown_files.hpp skips all
            outcome = f"0 of {ran[1]}, {ran[1]} skipped"
        elif ran:
            outcome = f"{passed[1] if passed else 0} of {ran[1]}"
            if skipped:
                outcome += f", {skipped[1]} skipped"
            if not ended_well and not failed:
                outcome += ", then failed"
        elif ended_well:
            outcome = "passed"
        elif "Timeout" in part:
            outcome = "**not finished**"
        else:
            outcome = "**failed**"
        if failed:
            outcome = f"**{outcome}**"
        found[name] = outcome
    return found


def failed(outcome):
    return "failed" in outcome or "not finished" in outcome


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def version(program):
    """The first line that the program says of itself, without the distribution's remarks."""
    if program == "ziglang":
        wanted = (ROOT / "tests/requirements-everywhere.txt").read_text(encoding="utf-8")
        return "ziglang " + re.search(r"^ziglang==(\S+)", wanted, re.M)[1]
    if program == "msvc":
        cached = [line for preset in ("msvc", "clang-cl") for line in lines_of(ROOT / "build" / preset / "CMakeCache.txt") if line.startswith("HEADROOM_MSVC:")]
        tools = sorted((pathlib.Path(cached[0].split("=", 1)[1]) / "VC/Tools/MSVC").glob("*")) if cached else []
        return f"MSVC's tools {tools[-1].name}" if tools else "MSVC, not here"
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError):
        return f"{program}, not installed"
    return re.sub(r"\s*\([^()]*(\([^()]*\))?[^()]*\)", "", said)


def total(found, names, pattern):
    return sum(int(number[1]) for name in names if (number := re.match(pattern, found[name])))


def row(preset):
    """The preset's row; None if it has not been run."""
    log, linked, commit = (ROOT / "build" / "log" / name for name in (f"ctest-{preset}.log", f"linked-{preset}", f"commit-{preset}"))
    said = linked if linked.exists() else log
    if not said.exists() or not commit.exists():
        return None
    first = f"| `{preset}` | {datetime.date.fromtimestamp(said.stat().st_mtime)} | `{commit.read_text().strip()}` |"
    if said == linked:
        return f"{first} {linked.read_text().strip()} |" + " |" * (len(ROOMS) + 3)
    found = outcomes(log.read_text(errors="replace"))
    names = [name for name in found if name.endswith(("_test", "every_part")) or name.startswith("example.") and "reference" not in name]
    passed = r"\**(\d+) of"
    cells = [len(names), total(found, names, passed)]
    for room in ROOMS:
        own = {path.stem for path in (ROOT / "tests" / room).glob("*_test.cpp")}
        cells.append(total(found, [name for name in names if name in own], passed))
    cells.append(total(found, names, r".*, (\d+) skipped"))
    cells.append(", ".join(f"`{name}` {found[name]}" for name in sorted(names) if failed(found[name])))
    return f"{first} " + " | ".join(str(cell) for cell in cells) + " |"


def table(before):
    """The table, with the rows that stand in `before` for presets that have not been run here."""
    lines = ["| preset | run on | commit | programs | tests passed | " + " | ".join(f"of {title}" for title in ROOMS.values()) + " | skipped | failed |",
             "|---" * (len(ROOMS) + 7) + "|"]
    rows = {preset: row(preset) or next((line for line in before.splitlines() if line.startswith(f"| `{preset}` |")), None) for preset in PRESETS}
    lines += [line for line in rows.values() if line]
    used = dict.fromkeys(program for preset, programs in PRESETS.items() if rows[preset] for program in programs)
    return "\n".join([*lines, "", "Versions, as the programs state them: " + "; ".join(version(program) for program in used) + "."])


page = PAGE.read_text(encoding="utf-8")
head, rest = page.split(BEGIN)
old, tail = rest.split(END)
made = table(old)
if "--print" in sys.argv[1:]:
    print(made)
else:
    PAGE.write_text(f"{head}{BEGIN}\n{made}\n{END}{tail}", encoding="utf-8")
