"""What a repository keeps of a run: the page, the pictures that a README shows, and the lines that both are made from.

The lines are packed without a date, so that publishing the same results twice gives the same files. They are those of the
machine that the page shows, in their order: from them anybody can make the page again. Page and pictures say at their end of
which results they were made, so that a check can tell when one of them is older.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import tempfile
from pathlib import Path

from ..results import reading
from ..results.reading import ResultSet
from . import experiments, model
from .files import as_bytes, write_all
from .html import as_svg, render
from .model import Report

RESULTS = "results.jsonl.gz"


def _lines(report: Report, found: ResultSet) -> bytes:
    shown = {machine.id for machine in report.machines}
    return b"".join(rounded(line) + b"\n" for key, line in found.raw.items() if key[0] in shown)


def rounded(line: bytes) -> bytes:
    """A line with what was timed in four digits, of which noise leaves two: a third of the bytes."""
    found = json.loads(line)
    for metric in found.get("metrics", {}).values():
        if metric.get("unit") == "s":
            metric["values"] = [float(f"{value:.4g}") for value in metric["values"]]
    return json.dumps(found, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def publish(report: Report, found: ResultSet, folder: str) -> bool:
    """Returns whether all of it could be written."""
    packed = gzip.compress(_lines(report, found), 9, mtime=0)
    # The page is made of the lines as they are kept, so that anybody can make it again. Where they lay before is nobody else's business.
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch) / RESULTS
        lines.write_bytes(packed)
        kept = reading.read([lines])
    kept.files = [RESULTS]
    report = model.build(kept)
    wanted = tuple(name for experiment in experiments.every() for name in experiment.in_readme)
    sections = [section for machine in report.machines[:1] for section in machine.sections]
    pictures = {picture.id: as_svg(picture) for section in sections for picture in section.pictures if picture.id in wanted}
    stamp = f"\n<!-- made of the results {hashlib.sha256(packed).hexdigest()[:16]} -->\n"
    parts: dict[str, bytes] = {"index.html": as_bytes(render(report).rstrip() + stamp)}
    parts |= {f"{name}.svg": as_bytes(svg.rstrip() + stamp) for name, svg in pictures.items()}
    parts[RESULTS] = packed
    for name in wanted:
        if name not in pictures:
            print(f"headroom_report: no picture {name}: its experiment is not in these results", file=sys.stderr)
    good = write_all({Path(folder) / name: data for name, data in parts.items()})
    return good and len(pictures) == len(wanted)
