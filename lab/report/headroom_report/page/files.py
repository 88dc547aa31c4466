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


def write_bytes(path: Path, data: bytes) -> bool:
    """Written beside and renamed when it is whole: what was there before is lost only to what takes its place."""
    beside = path.with_name(f".{path.name}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        print(f"headroom_report: {path}: {error.strerror or error}; what was there before is untouched", file=sys.stderr)
        return False
    print(f"headroom_report: wrote {path} ({len(data) / 1e6:.2f} MB)", file=sys.stderr)
    return True


def write(path: str, text: str) -> bool:
    return write_bytes(Path(path), text.encode("utf-8"))
