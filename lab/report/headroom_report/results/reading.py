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
    place: str = ""  # file:line

    @property
    def key(self) -> tuple:
        return (self.machine, self.experiment, self.contender, self.parameters, self.round)


@dataclass(frozen=True)
class Problem:
    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}" if self.line else f"{self.file}: {self.why}"


@dataclass
class ResultSet:
    machines: dict[str, dict] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    repeated: int = 0  # runs that a later line of the same key replaced
    files: list[str] = field(default_factory=list)
    lines: int = 0
    raw: list[tuple[str, str, bool, bytes]] = field(default_factory=list)  # file:line, machine, is it a run, the line

    def of_machine(self, machine: str) -> list[Run]:
        return [run for run in self.runs if run.machine == machine]


class Unreadable(ValueError):
    """What is wrong with a line, in words for its owner."""


def _refuse_constant(name: str):
    raise Unreadable(f"{name} is not a number")


_KINDS = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}


def _must(value: object, kind: type, what: str):
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Unreadable(f"{what} is not {_KINDS[kind]}")
    return value


def _numbers(values: object, what: str) -> tuple[float, ...]:
    for value in _must(values, list, what):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise Unreadable(f"{what} holds something that is not a number")
    return tuple(values)


def _metric(name: str, value: object) -> Metric:
    value = _must(value, dict, f'metric "{name}"')
    unit = _must(value.get("unit"), str, f'the unit of metric "{name}"')
    numbers = _numbers(value.get("values"), f'metric "{name}"')
    counts = _numbers(value.get("counts", []), f'the counts of metric "{name}"')
    if counts and len(counts) != len(numbers):
        raise Unreadable(f'metric "{name}" has {len(numbers)} values but {len(counts)} counts')
    if any(count < 0 for count in counts):
        raise Unreadable(f'metric "{name}" has a negative count')
    return Metric(unit, numbers, counts)


def _parameters(value: object) -> tuple[tuple[str, object], ...]:
    for name, parameter in _must(value, dict, "parameters").items():
        if not isinstance(parameter, (str, int, float, bool)):
            raise Unreadable(f'parameter "{name}" is neither text nor number')
    return tuple(sorted(value.items()))


def _run(record: dict, place: str) -> Run:
    outcome = _must(record.get("outcome"), str, "outcome")
    if outcome not in OUTCOMES:
        raise Unreadable(f'unknown outcome "{outcome}"')
    return Run(
        machine=_must(record.get("machine"), str, "machine"),
        experiment=_must(record.get("experiment"), str, "experiment"),
        contender=_must(record.get("contender"), str, "contender"),
        parameters=_parameters(record.get("parameters", {})),
        round=_must(record.get("round", 0), int, "round"),
        outcome=outcome,
        detail=_must(record.get("detail", ""), str, "detail"),
        metrics={name: _metric(name, value) for name, value in _must(record.get("metrics", {}), dict, "metrics").items()},
        place=place,
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
            result.problems.append(Problem(name, 0, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
            continue
        for number, raw in enumerate(data.split(b"\n"), start=1):
            if not raw.strip():
                continue
            result.lines += 1
            try:
                record = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
                version = _must(_must(record, dict, "the line").get("v"), int, 'the version "v"')
                if version > SCHEMA_VERSION:
                    raise Unreadable(f"written by a newer lab (schema version {version}; this report reads up to {SCHEMA_VERSION})")
                kind = record.get("kind")
                if kind == "machine":
                    result.raw.append((f"{name}:{number}", str(record.get("id")), False, raw))
                    _add_machine(result.machines, _must(record.get("id"), str, "the machine's id"), record)
                elif kind == "run":
                    run = _run(record, f"{name}:{number}")
                    result.raw.append((run.place, run.machine, True, raw))
                    if run.key in runs:
                        result.repeated += 1
                    runs[run.key] = run
                else:
                    raise Unreadable(f"unknown kind {json.dumps(kind)}")
            except UnicodeDecodeError:
                result.problems.append(Problem(name, number, "not UTF-8 text; skipped"))
            except json.JSONDecodeError as error:
                last = number == data.count(b"\n") + 1
                why = "cut off in the middle" if last else f"not JSON ({error.msg})"
                result.problems.append(Problem(name, number, why + "; skipped"))
            except RecursionError:
                result.problems.append(Problem(name, number, "nested too deep; skipped"))
            except (Unreadable, ValueError) as error:
                result.problems.append(Problem(name, number, f"{error}; skipped"))
    result.runs = list(runs.values())
    for run in result.runs:
        if run.machine not in result.machines:
            result.machines[run.machine] = {"id": run.machine, "missing": True}
    return result
