# SPDX-License-Identifier: MIT
"""Reads result files: JSON Lines, one machine or run a line.

A line that cannot be understood, or that a newer lab wrote, is skipped whole and reported by file and line; reading never fails.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable

from .. import SCHEMA_VERSION

OUTCOMES = ("ok", "bad_alloc", "killed", "timeout", "error", "absent", "not_run")


@dataclass(frozen=True)
class Metric:
    """One measured quantity of one child process. With `counts` it is a histogram: counts[i] samples near values[i]."""

    unit: str
    values: tuple[float, ...]
    counts: tuple[float, ...] = ()


@dataclass(frozen=True)
class Run:
    """One child process: one contender at one configuration in one round."""

    machine: str
    experiment: str
    contender: str
    parameters: tuple[tuple[str, object], ...]  # sorted by name
    round: int
    outcome: str
    detail: str
    metrics: dict[str, Metric] = field(hash=False)

    @property
    def key(self) -> tuple:
        return (self.machine, self.experiment, self.contender, self.parameters, self.round)


@dataclass
class ResultSet:
    machines: dict[str, dict] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # where, and what
    repeated: int = 0  # runs that a later line of the same key replaced
    files: list[str] = field(default_factory=list)
    lines: int = 0
    raw: dict[tuple, bytes] = field(default_factory=dict)  # the lines that count, in their order; a key begins with the machine

    def of_machine(self, machine: str) -> list[Run]:
        return [run for run in self.runs if run.machine == machine]


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a number")


_KINDS = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}


def _must(record: dict, name: str, kind: type, otherwise=None):
    """A field of a line, which must be of this kind."""
    value = record.get(name, otherwise)
    if type(value) is not kind:
        raise ValueError(f"{name} is not {_KINDS[kind]}")
    return value


def _numbers(record: dict, name: str, otherwise=None) -> tuple[float, ...]:
    values = tuple(_must(record, name, list, otherwise))
    if not all(type(value) in (int, float) and math.isfinite(value) for value in values):
        raise ValueError(f"{name} holds something that is not a number")
    return values


def _metric(metrics: dict, name: str) -> Metric:
    record = _must(metrics, name, dict)
    numbers, counts = _numbers(record, "values"), _numbers(record, "counts", [])
    if counts and (len(counts) != len(numbers) or min(counts) < 0):
        raise ValueError(f'the counts of metric "{name}" are negative, or not one for each value')
    return Metric(_must(record, "unit", str), numbers, counts)


def _run(record: dict) -> Run:
    if record.get("outcome") not in OUTCOMES:
        raise ValueError("unknown outcome")
    parameters, metrics = _must(record, "parameters", dict, {}), _must(record, "metrics", dict, {})
    if not all(isinstance(value, (str, int, float, bool)) for value in parameters.values()):
        raise ValueError("a parameter is neither text nor number")
    named = {name: _must(record, name, str) for name in ("machine", "experiment", "contender", "outcome")}
    return Run(
        **named,
        parameters=tuple(sorted(parameters.items())),
        round=_must(record, "round", int, 0),
        detail=_must(record, "detail", str, ""),
        metrics={name: _metric(metrics, name) for name in metrics},
    )


def _add_machine(machines: dict[str, dict], name: str, record: dict) -> None:
    """Each run of the lab writes a machine line; the last one counts, with every grid that was asked for."""
    grids = str(machines.get(name, {}).get("grid", "")).split(", ") + [str(record.get("grid", ""))]
    machines[name] = {**record, "grid": ", ".join(dict.fromkeys(grid for grid in grids if grid))}


def read(paths: Iterable[str | Path]) -> ResultSet:
    """All runs of all files, in order. A run whose key comes again is replaced by the later one."""
    result = ResultSet()
    runs: dict[tuple, Run] = {}
    for path in paths:
        name = str(path)
        result.files.append(name)
        try:
            data = Path(path).read_bytes()
            if name.endswith(".gz"):
                data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            result.problems.append(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}")
            continue
        for number, raw in enumerate(data.split(b"\n"), start=1):
            if not raw.strip():
                continue
            result.lines += 1
            try:
                record = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
                version = _must(_must({"the line": record}, "the line", dict), "v", int)
                if version > SCHEMA_VERSION:
                    raise ValueError(f"written by a newer lab (schema version {version}; this report reads up to {SCHEMA_VERSION})")
                kind = record.get("kind")
                if kind == "machine":
                    _add_machine(result.machines, _must(record, "id", str), record)
                    result.raw[record["id"], name, number] = raw
                elif kind == "run":
                    run = _run(record)
                    if result.raw.pop(run.key, None) is not None:
                        result.repeated += 1
                    result.raw[run.key] = raw
                    runs[run.key] = run
                else:
                    raise ValueError(f"unknown kind {json.dumps(kind)}")
            except UnicodeDecodeError:
                result.problems.append(f"{name}:{number}: not UTF-8 text; skipped")
            except json.JSONDecodeError as error:
                last = number == data.count(b"\n") + 1
                why = "cut off in the middle" if last else f"not JSON ({error.msg})"
                result.problems.append(f"{name}:{number}: {why}; skipped")
            except RecursionError:
                result.problems.append(f"{name}:{number}: nested too deep; skipped")
            except (ValueError, OverflowError) as error:  # a number may have more digits than a float can have
                result.problems.append(f"{name}:{number}: {error}; skipped")
    result.runs = list(runs.values())
    for run in result.runs:
        if run.machine not in result.machines:
            result.machines[run.machine] = {"id": run.machine, "missing": True}
    return result
