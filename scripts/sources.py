# SPDX-License-Identifier: MIT
"""The files of this tree, for the lints: what is tracked or could be, without asking git (a tree may come unpacked)."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE = {"build", "results", ".venv", ".git"}    # at the root
MADE_ANYWHERE = {"__pycache__", ".pytest_cache"}
CODE = {".cpp", ".hpp", ".h", ".c"}


def files(*suffixes):
    """All files with one of the suffixes, or all text files; paths relative to the root, sorted."""
    found = []
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT)
        if relative.parts[0] in MADE or not MADE_ANYWHERE.isdisjoint(relative.parts) or not path.is_file() or path.is_symlink():
            continue
        if not suffixes or path.suffix in suffixes:
            found.append(relative)
    return found


def text(path):
    """The text of a file, or None where it is not text."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def lines(path):
    """(number, line) of a text file, from 1."""
    return enumerate((text(path) or "").splitlines(), 1)


def finish(findings):
    """Prints the findings, and ends with 1 if there are any."""
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
