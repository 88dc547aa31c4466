# SPDX-License-Identifier: MIT
"""Which file of this tree includes which, for the lints and the picture of the house."""
import pathlib
import re

from sources import CODE, ROOT, files, lines

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
FOLDERS = ("include", "src", "lab", "tools")


def included(path):
    """The files of this tree that `path` includes, with the line numbers."""
    for number, line in lines(path):
        match = INCLUDE.match(line)
        if not match:
            continue
        beside = [path.parent / match[2]] if match[1] == '"' else []
        for candidate in (*beside, *(pathlib.PurePath(folder) / match[2] for folder in FOLDERS)):
            if (ROOT / candidate).is_file():
                yield number, pathlib.PurePath((ROOT / candidate).resolve().relative_to(ROOT))
                break


def graph():
    """For each C++ file a list of (line, included file)."""
    return {pathlib.PurePath(path): list(included(path)) for path in files(*CODE)}
