# SPDX-License-Identifier: MIT
"""The documents' own figures: lab/experiments/*/published.json, a table (or a list of tables) with its source and the machines it
was taken on."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

LAB = Path(__file__).resolve().parents[3]
EXPERIMENTS = LAB / "experiments"


@dataclass(frozen=True)
class Table:
    id: str
    experiment: str
    source: dict[str, str]
    machines: dict[str, str]
    notes: list[str]
    columns: list[str]
    rows: list[list[object]]
    extra: dict[str, object] = field(default_factory=dict)

    def records(self, where: dict[str, object] | None = None) -> list[dict[str, object]]:
        """The rows as dictionaries, those whose columns equal all of `where`."""
        found = (dict(zip(self.columns, row)) for row in self.rows)
        return [record for record in found if all(record[name] == value for name, value in (where or {}).items())]

    def column(self, name: str, where: dict[str, object] | None = None) -> list[object]:
        return [record[name] for record in self.records(where)]


def load(path: Path) -> list[Table]:
    found = json.loads(path.read_text(encoding="utf-8"))
    result = []
    for data in found if isinstance(found, list) else [found]:
        known = {name: data.pop(name) for name in ("id", "source", "machines", "notes", "columns", "rows")}
        result.append(Table(**known, experiment=path.parent.name, extra=data))
    return result


def module(path: Path):
    """What the Python file of an experiment's folder defines."""
    spec = importlib.util.spec_from_file_location(f"headroom_report_{path.stem}_{path.parent.name.replace('-', '_')}", path)
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found  # where its dataclasses look for themselves
    spec.loader.exec_module(found)
    return found


@lru_cache
def tables() -> dict[str, Table]:
    found = [table for path in sorted(EXPERIMENTS.glob("*/published.json")) for table in load(path)]
    return {table.id: table for table in found}
