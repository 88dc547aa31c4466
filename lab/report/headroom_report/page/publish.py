# SPDX-License-Identifier: MIT
"""What a repository keeps of its runs: the page, the pictures that a README shows, and the result sets that both are made from.

Sets are packed without a date, so that publishing the same results twice gives the same files: from them anybody can make the page again.
Page and pictures say at their end of which sets they were made, so that a check can tell when one of them is older.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path

from ..results import reading, sets
from ..results.reading import ResultSet
from . import experiments, model
from .files import as_bytes, write_all
from .html import as_svg, render
from .model import Report


def _sets(report: Report, found: ResultSet) -> dict[str, bytes]:
    """By file name, packed: each machine's lines. Of several machines with one processor the newest results count."""
    chosen: dict[str, str] = {}
    for machine in report.machines:  # newest first
        chosen.setdefault(sets.name_of(machine.description), machine.id)
    return {
        name + sets.SUFFIX: gzip.compress(b"".join(rounded(line) + b"\n" for key, line in found.raw.items() if key[0] == machine), 9, mtime=0)
        for name, machine in chosen.items()
    }


def rounded(line: bytes) -> bytes:
    """A line with what was timed in four digits, of which noise leaves two: a third of the bytes."""
    found = json.loads(line)
    for metric in found.get("metrics", {}).values():
        if metric.get("unit") == "s":
            metric["values"] = [float(f"{value:.4g}") for value in metric["values"]]
    return json.dumps(found, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def publish(report: Report, found: ResultSet, folder: str) -> bool:
    """Renews the sets of the machines in `found`, and makes page and pictures of all sets. Returns whether all could be written."""
    packed = {path.name: path.read_bytes() for path in sets.files(Path(folder))} | _sets(report, found)
    # The page is made of the lines as they are kept, so that anybody can make it again. Where they lay before is nobody else's business.
    with tempfile.TemporaryDirectory() as scratch:
        paths = [Path(scratch) / name for name in sorted(packed)]
        for path in paths:
            path.write_bytes(packed[path.name])
        kept = reading.read(paths)
    kept.files = sorted(packed)
    report = model.build(kept)
    wanted = tuple(name for experiment in experiments.every() for name in experiment.in_readme)
    sections = [section for machine in report.machines[:1] for section in machine.sections]
    pictures = {picture.id: as_svg(picture) for section in sections for picture in section.pictures if picture.id in wanted}
    stamp = f"\n<!-- made of the results {sets.stamp(packed)} -->\n"
    parts: dict[str, bytes] = {"index.html": as_bytes(render(report).rstrip() + stamp)}
    parts |= {f"{name}.svg": as_bytes(svg.rstrip() + stamp) for name, svg in pictures.items()}
    parts |= {f"{sets.FOLDER}/{name}": data for name, data in packed.items()}
    for name in wanted:
        if name not in pictures:
            print(f"headroom_report: no picture {name}: its experiment is not in these results", file=sys.stderr)
    good = write_all({Path(folder) / name: data for name, data in parts.items()})
    return good and len(pictures) == len(wanted)
