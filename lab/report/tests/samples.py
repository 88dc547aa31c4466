# SPDX-License-Identifier: MIT
"""Results for tests: real ones of one machine, and made-up ones in the lab's own form."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path

from headroom_report.results.reading import Metric, Run

RESULTS = Path(__file__).resolve().parent / "data/results.jsonl.gz"  # of an earlier library, with every peer: for tests alone
MACHINE = {
    "v": 1,
    "kind": "machine",
    "id": "0badcafe",
    "cpu": "Made-up processor",
    "cores": 2,
    "memory_bytes": 25_000_000_000,
    "kernel": "Linux 6.18",
    "page_size": 4096,
    "compiler": "GCC 12.2.0",
    "flags": {"O0": "-O0", "O1": "-O1", "O2": "-O2"},
    "libraries": {"boost": "1.74"},
    "commit": "unknown",
    "started": "2026-11-20T12:00:00Z",
    "grid": "quick",
}
SETTLED = "headroom::settled_vector"


@cache
def _published() -> list[dict]:
    return [json.loads(line) for line in gzip.decompress(RESULTS.read_bytes()).splitlines()]


def published(*experiments: str) -> list[dict]:
    """The lines of the machine with the most runs: all, or what it is and the runs of these experiments."""
    ((machine, _),) = Counter(record["machine"] for record in _published() if record["kind"] == "run").most_common(1)
    what = next(record for record in _published() if record.get("id") == machine)  # an interrupted run says it each time it goes on
    return [what, *(one for one in _published() if one.get("machine") == machine and (not experiments or one.get("experiment") in experiments))]


def run(experiment, contender, parameters, metrics, number=0, outcome="ok", detail="", machine="0badcafe"):
    """A line, as the lab writes it."""
    record = {"v": 1, "kind": "run", "machine": machine, "experiment": experiment, "contender": contender, "parameters": parameters,
              "round": number, "outcome": outcome, "detail": detail, "metrics": {}}
    for name, value in metrics.items() if outcome == "ok" else ():
        listed = {"unit": "B" if name in ("payload", "peak_resident") else "s", "values": value if isinstance(value, list) else [value]}
        record["metrics"][name] = value if isinstance(value, dict) else listed
    return record


def a_run(experiment, contender, parameters, metrics, outcome="ok", number=0, unit="", machine="m"):
    """The same, as it is read; without a unit a count."""
    made = {name: Metric(unit, tuple(value) if isinstance(value, (list, tuple)) else (value,)) for name, value in metrics.items()}
    return Run(machine, experiment, contender, tuple(sorted(parameters.items())), number, outcome, "", made)


def rounds(experiment, contender, values, metric="time", unit="s", outcome="ok", **parameters):
    """One of a round for each value."""
    return [a_run(experiment, contender, parameters, {metric: value}, outcome, number, unit) for number, value in enumerate(values)]


def write(path: Path, records) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
