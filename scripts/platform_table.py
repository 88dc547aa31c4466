"""Writes the table of docs/platforms.md from what the tests printed: run it after `./dev test --everywhere`.

Reads build/log/ctest-PRESET.log, which `./dev test` keeps of each preset (what is appended counts instead of what was said
before), and replaces what stands between the two marks of the page; so the table says what was seen, and nothing else. With
--print it only prints the table.
"""
import datetime
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "platforms.md"
BEGIN, END = "<!-- made by scripts/platform_table.py -->", "<!-- end -->"

# Preset, what the column is called, and the programs whose versions count.
COLUMNS = [
    ("gcc", "Linux x86-64, GCC", ["g++"]),
    ("clang", "Clang, libstdc++", ["clang++-19"]),
    ("clang-libcxx", "Clang, libc++", ["clang++-19"]),
    ("i686", "Linux x86, 32-bit", ["i686-linux-gnu-g++"]),
    ("aarch64", "Linux ARM 64-bit", ["aarch64-linux-gnu-g++", "qemu-aarch64-static"]),
    ("aarch64-64k", "the same, pages of 64 KiB", ["aarch64-linux-gnu-g++", "qemu-aarch64-static"]),
    ("riscv64", "Linux RISC-V 64-bit", ["riscv64-linux-gnu-g++", "qemu-riscv64-static"]),
    ("mingw", "Windows x86-64", ["x86_64-w64-mingw32-g++-posix", "/usr/lib/wine/wine64"]),
]


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
        if ran:
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


def version(program):
    """The first line that the program says of itself, without the distribution's remarks."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError):
        return f"{program}, not installed"
    return re.sub(r"\s*\([^()]*(\([^()]*\))?[^()]*\)", "", said)


def table():
    columns = []
    for preset, title, programs in COLUMNS:
        log = ROOT / "build" / "log" / f"ctest-{preset}.log"
        if log.exists():
            columns.append((preset, title, programs, outcomes(log.read_text(errors="replace")),
                            datetime.date.fromtimestamp(log.stat().st_mtime)))
    names = sorted({name for column in columns for name in column[3]
                    if name.endswith(("_test", "every_part")) or name.startswith("example.") and "reference" not in name})
    shared = {name for name in names if any(name in column[3] for column in columns if column[0] != "gcc")}
    names = [name for name in names if name in shared]
    lines = ["| program | " + " | ".join(f"{title} (`{preset}`)" for preset, title, *_ in columns) + " |",
             "|---|" + "---|" * len(columns)]
    lines.append("| run on | " + " | ".join(str(column[4]) for column in columns) + " |")
    whole = [name for name in names if not any(failed(column[3].get(name, "")) for column in columns)]
    lines.append(f"| {len(whole)} programs, of which nothing failed |" + " |" * len(columns))
    for name in names:
        if name not in whole:
            lines.append(f"| `{name}` | " + " | ".join(column[3].get(name, "not run") for column in columns) + " |")
    for what, number in (("passed", r"\**(\d+) of"), ("skipped", r".*, (\d+) skipped")):
        lines.append(f"| tests {what} | " + " | ".join(
            str(sum(int(m[1]) for name in names if (m := re.match(number, column[3].get(name, ""))))) for column in columns) + " |")
    lines.append("")
    used = dict.fromkeys(program for *_, programs, _, _ in columns for program in programs)
    lines.append("Versions, as the programs state them: " + "; ".join(version(program) for program in used) + ".")
    return "\n".join(lines)


made = table()
if "--print" in sys.argv[1:]:
    print(made)
else:
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")
