# SPDX-License-Identifier: MIT
"""The result sets that a repository keeps: one for each processor, in the folder `results` beside the page, named by the processor.

Whoever measures on a processor renews that one's set, and no other; figures of two sets are never mixed.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

FOLDER, SUFFIX = "results", ".jsonl.gz"
_NOISE = re.compile(r"\((r|tm)\)|@.*|\b(processor|cpu|with)\b|\b\d+-core\b")


def name_of(machine: dict) -> str:
    """Of the set that a machine's results belong to: "AMD EPYC" is amd-epyc, "Intel(R) Xeon(R) Processor" intel-xeon."""
    words = re.findall(r"[a-z0-9]+", _NOISE.sub(" ", str(machine.get("cpu", "")).lower()))
    return "-".join(words) or "unknown"


def files(report: Path) -> list[Path]:
    """The sets beside the page in that folder, by name."""
    return sorted((report / FOLDER).glob(f"*{SUFFIX}"))


def stamp(packed: dict[str, bytes]) -> str:
    """What everything that was made of these sets carries, so that a check can tell when it is older. By file names."""
    whole = hashlib.sha256()
    for name in sorted(packed):
        whole.update(name.encode() + b"\0" + hashlib.sha256(packed[name]).digest())
    return whole.hexdigest()[:16]


def stamp_of(report: Path) -> str:
    """The same of the sets in that folder; empty where there are none."""
    found = {path.name: path.read_bytes() for path in files(report)}
    return stamp(found) if found else ""


def age_rank(machine: dict, runs: int) -> tuple[str, int]:
    """Sorted by this in reverse, machines come newest results first, and of equally new ones that with the most runs."""
    return str(machine.get("started", "")), runs
