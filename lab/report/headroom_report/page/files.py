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


def write(path: str, text: str) -> bool:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"headroom_report: {path}: {error.strerror or error}", file=sys.stderr)
        return False
    print(f"headroom_report: wrote {path} ({len(text.encode()) / 1e6:.1f} MB)", file=sys.stderr)
    return True
