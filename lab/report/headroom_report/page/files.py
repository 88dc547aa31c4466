# SPDX-License-Identifier: MIT
"""The files that the command line names: which are read, and how a page is written."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def expand(names: list[str]) -> list[str]:
    """Folders stand for the .jsonl and .jsonl.gz files in them."""
    files: list[str] = []
    for name in names:
        if os.path.isdir(name):
            files += sorted(str(path) for pattern in ("*.jsonl", "*.jsonl.gz") for path in Path(name).glob(pattern))
        else:
            files.append(name)
    return files


def write_all(parts: dict[Path, bytes]) -> bool:
    """Each is written beside and renamed when all are whole: what was there before is lost only to what takes its place, and files that
    belong together are of one report."""
    beside = {path: path.with_name(f".{path.name}.unfinished") for path in parts}
    path = Path()
    try:
        for path, data in parts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(beside[path], "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for path in parts:
            os.replace(beside[path], path)
    except OSError as error:
        for unfinished in beside.values():
            try:
                unfinished.unlink(missing_ok=True)
            except OSError:  # its folder is no folder, or gone: then there is nothing left there
                pass
        print(f"headroom_report: {path}: {error.strerror or error}; what was there before is untouched", file=sys.stderr)
        return False
    for path, data in parts.items():
        print(f"headroom_report: wrote {path} ({len(data) / 1e6:.2f} MB)", file=sys.stderr)
    return True


def as_bytes(text: str) -> bytes:
    """In UTF-8; what no UTF-8 can say, such as a byte of a file's name, as \\udce9."""
    return text.encode("utf-8", "backslashreplace")


def write(path: str, text: str) -> bool:
    return write_all({Path(path): as_bytes(text)})
